"""11.2 · Beam search."""

import itertools
import math

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import symptom
from ..running.drivers.lesson_11 import Model
from ..running.encode import decode
from .common import SEARCHES

TINY = "the probabilities are very small, and there are 40 steps"
STILL_GROWING = "two sequences end early while a better one is still growing"
LAST_STEP = "at the last step an unfinished candidate is better than one that ends"


def cases(seed):
    rng, made = torch.Generator().manual_seed(seed), []
    for V, *sizes, alpha, label in (  # num_beams, max_len, end_id
        *((3, 1, 3, 0, 1.0, ""), (3, 2, 3, 0, 1.0, ""), (4, 2, 6, 3, 1.0, ""), (5, 3, 9, 2, 0.7, "")),
        *((6, 4, 5, 1, 1.0, ""), (5, 3, 9, 4, 1.3, ""), (5, 2, 8, 4, 0.0, ""), (4, 2, 40, 1, 1.0, TINY)),
        (3, 5, 4, 1, 0.8, "there are more beams than symbols"),
    ):
        # Each step has scores of its own: if they came back, two paths could be equally good.
        table = 1.5 * torch.randn(sizes[1], V + 1, V + 1, V, generator=rng)
        table[..., sizes[2]] += -60.0 if label == TINY else 0.4
        made.append(case(label, table.log_softmax(-1) - 25.0 * (label == TINY), *sizes, alpha))
    return [*made, *trees(rng)]


def case(label, table, num_beams, max_len, end_id, alpha):
    labels = (label,) if label else ()
    return Case(*labels, driver={"step": table}, num_beams=num_beams, max_len=max_len, end_id=end_id, alpha=alpha)


def trees(rng):
    """Trees drawn by hand, a little blurred, for two beams; symbol 3 ends."""
    for label, *rows in (  # in percent: at the start; after the symbols 0, 1, 2
        (STILL_GROWING, "55 12 3 30", "3 3 90 4", "1 1 2 96", "2 2 2 94"),
        ("two beams end in the same step", "30 15 5 50", "2 2 8 88", "2 2 8 88", "1 1 97 1"),
        ("both next beams grow from one beam", "75 16 6 3", "50 4 20 26", "5 5 85 5", "1 1 1 97"),
        (LAST_STEP, "55 11 9 25", "60 5 5 30", "25 25 25 25", "25 25 25 25"),
        ("one sequence ends at the first step", "60 6 4 30", "55 5 35 5", "25 25 25 25", "1 1 1 97"),
    ):
        first, *after = ([float(number) / 100 for number in row.split()] for row in rows)
        logits = torch.tensor([*after, [0.25] * 4, first]).log() + 0.01 * torch.randn(3, 5, 5, 4, generator=rng)
        yield case(label, logits.log_softmax(-1), 2, 2 if label == LAST_STEP else 9, 3, 1.0)


LOGARITHMS = "add log-probabilities; never leave the logarithm, and multiply no probabilities."
ENDED = "a candidate that takes end_id is set aside, and is no beam of the next step."
SCORED = "rank by log-probability / length ** alpha, the highest first; the length counts every symbol, the end too."
SHARED = "make a new list for each candidate, [*sequence, symbol]; append and += change the old one."
SCORES = {  # what a score was made of, from log-probability t, length n, alpha a, whether it ended, the last symbol's
    "the scores are log-probabilities, not divided by a power of the length.": lambda t, n, a, ended, last: t,
    "the scores are multiplied by length ** alpha, not divided.": lambda t, n, a, ended, last: t * n**a,
    "the scores are divided by length * alpha; it is an exponent.": lambda t, n, a, ended, last: t / (n * a or 1),
    "the scores are divided by the length; alpha plays no part.": lambda t, n, a, ended, last: t / n,
    "the length is counted without the end symbol.": lambda t, n, a, ended, last: t / max(n - ended, 1) ** a,
    "the score is made of the last symbol's log-probability alone.": lambda t, n, a, ended, last: last / n**a,
    "the scores are probabilities, not their logarithms.": lambda t, n, a, ended, last: math.exp(t),
}
NO_SCORE = "the scores are not log-probability / length ** alpha of the sequences beside them."


def of_its_results(answer):
    """What can be seen in sequences and scores by themselves, whatever the search was."""
    rows = [row for case, seen in zip(answer.cases, answer.observed, strict=True) for row in read(case, seen)]
    nothing_left = any(TINY in case.labels and score in (0.0, -math.inf) for _, score, case in rows)
    if nothing_left or any("math domain" in seen.get("message", "") for seen in answer.observed):
        return symptom("after so many small factors a probability is 0 in floating point.", LOGARITHMS)
    for sequence, _, case in rows:
        if len(sequence) > case["max_len"] + 1:
            return symptom("a sequence has more symbols than steps, as if candidates shared one list.", SHARED)
        if case["end_id"] in sequence[:-1]:
            return symptom("sequences go on after their end symbol.", ENDED)
    if not all(fits(row, lambda t, n, a, ended, last: t / n**a) for row in rows):
        names = (name for name, rule in SCORES.items() if all(fits(row, rule) for row in rows))
        return symptom(next(names, NO_SCORE), SCORED)
    for (sequence, score, case), (following, lower, same) in itertools.pairwise(rows):
        if case is same and sequence == following:
            return symptom("the same sequence comes several times.", "start with one empty sequence, not with copies.")
        if case is same and score < lower:
            return symptom("the sequences are not in order of their scores, the best first.", SCORED)
    return None


def read(case, seen):
    """(sequence, score, case) of each sequence that was returned; none if they are something else."""
    value = decode(seen["value"]) if seen["outcome"] == "returned" else None
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(isinstance(part, list) for part in value):
        return []
    V = case.driver["step"].shape[-1]
    are_lists = all(isinstance(s, list) and s and all(type(x) is int and 0 <= x < V for x in s) for s in value[0])
    return [(*row, case) for row in zip(*value, strict=False) if are_lists and isinstance(row[1], float)]


def fits(row, rule):
    """Whether a score is made like this from what the model says of its sequence."""
    (sequence, score, case), step = row, Model(row[2].driver["step"])
    steps = [float(step(sequence[:place])[symbol]) for place, symbol in enumerate(sequence)]
    right = rule(sum(steps), len(sequence), case["alpha"], sequence[-1] == case["end_id"], steps[-1])
    return math.isclose(score, right, rel_tol=1e-4, abs_tol=1e-30)


EXERCISE = Exercise(
    cases,
    returns=("sequences", "scores"),
    driver="drive_decoding",
    off_limits=SEARCHES,
    symptoms=(of_its_results,),
    pairs=0,  # two rules of a search broken at once fit by chance
    advice="follow the tree of the task by hand: write down all candidates of a step, their sums, and the best ones.",
)
