"""Beam search over small made-up models, trees drawn by hand among them."""

import math

import torch

from ....probes.codec import decode
from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.view import Told


def _best_first(candidates, num_beams):
    return sorted(candidates, key=lambda candidate: -candidate[0])


def _search(
    step, num_beams, max_len, end_id, alpha, *, width=lambda num_beams, finished: num_beams,
    start=lambda num_beams: [(0.0, [])], asked=lambda sequence: sequence,
    offers=lambda log_probs, num_beams: enumerate(log_probs.tolist()), add=lambda total, log_prob: total + log_prob,
    order=_best_first, parent=lambda beams, beam, rank: beams[beam][1],
    finishes=lambda rank, num_beams: rank < num_beams, taken=lambda rank, num_beams: rank < num_beams,
    stays=lambda ended: not ended, follows=lambda rank, num_beams: True,
    enough=lambda finished, num_beams: len(finished) >= num_beams, ranks=lambda finished, *_: finished,
    score=lambda total, length, alpha: total / length**alpha, rank_by=lambda total, score: score,
    length=lambda sequence, end_id: len(sequence), most=lambda num_beams: num_beams,
    shown=lambda sequence, end_id: sequence, shown_score=lambda total, score: score,
):  # fmt: skip
    beams, finished = start(num_beams), []
    for number in range(1, max_len + 1):
        candidates = [
            (add(total, log_prob), beam, symbol)
            for beam, (total, sequence) in enumerate(beams)
            for symbol, log_prob in offers(step(asked(sequence)), num_beams)
        ]
        going = []
        for rank, (total, beam, symbol) in enumerate(order(candidates, num_beams)):
            sequence, ended = [*parent(beams, beam, rank), symbol], symbol == end_id
            if (ended and finishes(rank, num_beams)) or (number == max_len and taken(rank, num_beams)):
                finished.append((total, sequence))
            if stays(ended) and follows(rank, num_beams):
                going.append((total, sequence))
        beams = going[: width(num_beams, finished)]
        if enough(finished, num_beams) or not beams:
            break
    found = [(total, score(total, length(s, end_id), alpha), s) for total, s in ranks(finished, beams, num_beams)]
    found = sorted(found, key=lambda f: rank_by(f[0], f[1]), reverse=True)[: most(num_beams)]
    return [shown(s, end_id) for *_, s in found], [shown_score(*f[:2]) for f in found]


def _held(step, num_beams, max_len, end_id, alpha):
    """What has ended stays among the beams: it says the end symbol again, at no cost, which is cut off afterwards."""

    def again(sequence):
        log_probs = step(sequence)
        if end_id in sequence:
            log_probs = torch.full_like(log_probs, -torch.inf).index_fill(0, torch.tensor(end_id), 0.0)
        return log_probs

    def cut(sequence, end_id):
        return sequence[: sequence.index(end_id) + 1] if end_id in sequence else sequence

    never = {"finishes": lambda rank, k: False, "enough": lambda finished, k: False, "stays": lambda ended: True}
    return _search(again, num_beams, max_len, end_id, alpha, **never, shown=cut, length=lambda s, end: len(cut(s, end)))


def _best_of_each(candidates, num_beams):
    """The best candidate of each beam (of a single beam: all), then the others."""
    best = {candidate[1]: candidate for candidate in sorted(candidates)}
    return sorted(candidates, key=lambda c: (len(best) > 1 and c != best[c[1]], -c[0]))


def _trees(rng):
    """Trees drawn by hand, a little blurred, for two beams; symbol 3 ends."""
    ends, even = [0.01, 0.01, 0.01, 0.97], [0.25, 0.25, 0.25, 0.25]
    trees = (  # label; most symbols; at the start; after the symbols 0, 1, 2
        ("two beams end in the same step, after another one", 9,
            [0.3, 0.15, 0.05, 0.5], [0.02, 0.02, 0.08, 0.88], [0.02, 0.02, 0.08, 0.88], [0.01, 0.01, 0.97, 0.01]),
        ("both next beams grow from one beam, whose second best continuation ends", 9,
            [0.75, 0.16, 0.06, 0.03], [0.5, 0.04, 0.2, 0.26], [0.05, 0.05, 0.85, 0.05], ends),
        ("at the last step an unfinished candidate is better than one that ends", 2,
            [0.55, 0.11, 0.09, 0.25], [0.6, 0.05, 0.05, 0.3], even, even),
        ("one sequence ends at the first step, and of the two that go on the second is better", 9,
            [0.6, 0.06, 0.04, 0.3], [0.55, 0.05, 0.35, 0.05], even, ends),
    )  # fmt: skip
    for label, max_len, first, *after in trees:
        rows = torch.tensor([*after, even, first])  # (V + 1, V): after each symbol, and at the start
        logits = rows.log() + 0.01 * torch.randn(3, 5, 5, 4, generator=rng)
        yield Case(label, _step=logits.log_softmax(-1), num_beams=2, max_len=max_len, end_id=3, alpha=1.0)


TINY = "the probabilities are very small, and there are 40 steps"


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for V, num_beams, max_len, end_id, alpha, *tiny in (
        (3, 1, 3, 0, 1.0), (3, 2, 3, 0, 1.0), (4, 2, 6, 3, 1.0), (5, 3, 9, 2, 0.7), (6, 4, 5, 1, 1.0), (5, 3, 9, 4, 1.3),
        (5, 2, 8, 4, 0.0), (4, 2, 40, 1, 1.0, TINY), (3, 5, 4, 1, 0.8, "there are more beams than symbols"),
    ):  # fmt: skip
        # Each step has scores of its own: if they came back, two paths could be equally good.
        table = 1.5 * torch.randn(max_len, V + 1, V + 1, V, generator=rng)
        table[..., end_id] += -60.0 if TINY in tiny else 0.4
        table = table.log_softmax(-1) - (25.0 if TINY in tiny else 0.0)
        cases.append(Case(*tiny, _step=table, num_beams=num_beams, max_len=max_len, end_id=end_id, alpha=alpha))
    return [*cases, *_trees(rng)]


def _lists(view, name):
    """The index of each case, and the list that was returned there."""
    found = [(pair.index, decode(pair.have)) for part in view.parts() if part.name == name for pair in part.pairs]
    return [(index, value) for index, value in found if isinstance(value, list)]


def _shared_list(view):
    """A sequence that got more than one symbol in a step."""
    for index, found in _lists(view, "sequences"):
        if max((len(s) for s in found if isinstance(s, list)), default=0) > view.inputs[index]["max_len"] + 1:
            said = "a sequence has more symbols than there were steps, as when two candidates share one list."
            advice = "make a new list for each candidate, [*sequence, symbol]; append and += change the old one."
            return Told("symptom", "more symbols than steps", said, advice)
    return None


def _underflow(view):
    """A product of probabilities that is 0."""
    tiny = [TINY in case.labels for case in view.inputs].index(True)
    holds = {index: {x for x in scores if isinstance(x, float)} for index, scores in _lists(view, "scores")}
    zeros = [index for index, found in holds.items() if 0.0 in found]
    if -math.inf in holds.get(tiny, ()) or zeros == [tiny] or "math domain" in view.cases[tiny].get("message", ""):
        said = "after so many small factors a probability is 0 in floating point, and its logarithm is lost."
        advice = "add log-probabilities; never leave the logarithm, and multiply no probabilities."
        return Told("symptom", "probabilities multiplied", said, advice)
    return None


_LAST = "at step number max_len all of the num_beams best candidates are taken, ended or not; before it only those that ended."
_ENDED = "a candidate that takes end_id is set aside, and is no beam of the next step."
_NEXT = "the num_beams best candidates that do not end go on, at every step; look further down the list for them."
_ALL = "extend each beam by every symbol, put all candidates into one list, and take the best of that."

EXERCISE = Exercise(
    answer="beam_search", cases=_cases, reference=_search, returns=("sequences", "scores"),
    symptoms=(_shared_list, _underflow),
    faults=(
        *faults_of("score", "divide the log-probability by length ** alpha, and rank by that.",
            ("no length normalization", "the log-probability as it is: short ones win.", lambda total, n, alpha: total),
            ("multiplied by the length", "multiplied by length ** alpha, not divided.", lambda total, n, alpha: total * n**alpha),
            ("alpha not used", "divided by the length itself: alpha plays no part.", lambda total, n, alpha: total / n),
            ("divided, then multiplied", "divided by length, then times alpha.", lambda total, n, alpha: total / n * alpha),
            ("alpha as a factor", "divided by length * alpha; it is an exponent.", lambda total, n, alpha: total / (n * alpha))),
        *faults_of("length", "every symbol has its log-probability in the sum, so each counts in the length, the end too.",
            ("length without the end symbol", "the length is counted without the end symbol.",
                lambda s, end: max(len(s) - (s[-1] == end), 1)),
            ("length without the last symbol", "the length leaves out the last symbol.", lambda s, _: max(len(s) - 1, 1))),
        *faults_of("rank_by", "rank by the same number that you return, the highest first.",
            ("ranked without normalization", "the scores are divided, but the ranking was made before.", lambda total, _: total),
            ("worst finished first", "the finished are ranked from the lowest score to the highest.", lambda _, score: -score)),
        Fault("probabilities ranked", "the scores are made of probabilities, not of their logarithms.",
            "add log-probabilities; never leave the logarithm, and multiply no probabilities.",
            start=lambda k: [(1.0, [])], add=lambda total, log_prob: total * math.exp(log_prob)),
        Fault("scores without normalization", "the ranking is right, but the scores are log-probabilities, not yet divided.",
            "return log-probability / length ** alpha.", shown_score=lambda total, score: total),
        *faults_of("rank_by", "after the loop, sort the finished by their score, the highest first.",
            ("not ranked", "the finished are not ranked: they come back in the order in which they were found.",
                lambda total, score: 0)),
        Fault("all finished returned", "more than num_beams sequences are returned.", "cut the ranked list to num_beams.",
            most=lambda num_beams: None),
        Fault("end symbol cut off", "the end symbol was taken off the sequences.", "return each sequence with its end symbol.",
            shown=lambda s, end_id: s[:-1] if s[-1] == end_id else s),
        *faults_of("shown", "return each sequence as it was found: with its end symbol, if it has one.",
            ("last symbol cut off", "the last symbol of each sequence was taken off, whether it is the end symbol or not.",
                lambda s, end_id: s[:-1])),
        Fault("finished beams extended", "sequences go on after their end symbol: nothing is set aside.", _ENDED,
            stays=lambda ended: True, finishes=lambda *_: False),
        Fault("finished and extended", "a sequence that has ended is set aside, but stays among the beams, and is extended.",
            _ENDED, stays=lambda ended: True),
        Fault("finished ones forgotten", "what had ended is not in the result; it holds the beams that were unfinished.",
            "collect what ends in a list of its own, and rank that list.", ranks=lambda finished, beams, _: beams or finished),
        Fault("first finished only", "only the num_beams first finished were ranked; the last step may bring better ones.",
            "rank all that are finished, and cut the ranked list to num_beams.", ranks=lambda finished, _, k: finished[:k]),
        Fault("every end counts", "every candidate with an end symbol was set aside, however improbable.",
            "only those among the num_beams best candidates of the step are finished.", finishes=lambda *_: True),
        Fault("unfinished ones dropped", "what had not ended after max_len steps is missing.", _LAST, taken=lambda *_: False),
        Fault("unfinished ones always added", "beams that had not ended were ranked too, although the search stopped early.",
            _LAST, taken=lambda *_: False, ranks=lambda finished, beams, _: finished + beams),
        Fault("unfinished ones only where ends are few", "unfinished sequences were taken only if too few had ended.", _LAST,
            taken=lambda *_: False, ranks=lambda ends, beams, _: ends + beams if len(ends) < len(beams) else ends),
        Fault("ended ones keep a place", "a sequence that has ended keeps its place among the beams, so that fewer go on.", _NEXT,
            whole=_held),
        Fault("ended ones leave a gap", "where one of the best candidates of a step ended, fewer beams went on.", _NEXT,
            follows=lambda rank, k: rank < k),
        Fault("fewer beams after each end", "each finished sequence took a place away: fewer and fewer beams were followed.",
            _NEXT, width=lambda k, finished: max(k - len(finished), 0)),
        *faults_of("enough", "stop as soon as num_beams or more are finished: compare with >=.",
            ("stops at the first end", "the search stopped as soon as one had ended.", lambda ends, k: len(ends) >= 1),
            ("never stops early", "the search went on after num_beams had ended.", lambda ends, k: False),
            ("stops at the exact number", "the search stopped only when exactly num_beams were finished; two may end at once.",
                lambda ends, k: len(ends) == k)),
        *faults_of("offers", _ALL,
            ("topk of each beam", "each beam was extended by its num_beams best symbols only, with topk.",
                lambda p, k: zip(*(t.tolist() for t in reversed(p.topk(k))), strict=True)),
            ("num_beams continuations of each beam", "each beam was extended by its num_beams best symbols only.",
                lambda p, k: sorted(enumerate(p.tolist()), key=lambda offer: -offer[1])[:k])),
        Fault("last symbol overwritten", "all candidates of a beam share one list: each shows the symbol written last.",
            "make a new list for each candidate, [*sequence, symbol].",
            offers=lambda p, k: [(len(p) - 1, log_prob) for log_prob in p.tolist()]),
        *faults_of("order", _ALL,
            ("best of each beam", "each beam kept its own best continuation: greedy searches side by side.", _best_of_each),
            ("worst candidates", "the least probable candidates were kept.", lambda candidates, k: sorted(candidates))),
        *faults_of("parent", "a candidate carries the number of the beam it grew from; extend that beam's sequence.",
            ("wrong prefix", "symbols were put behind the wrong beam: candidate number i behind beam number i.",
                lambda beams, beam, rank: beams[min(rank, len(beams) - 1)][1]),
            ("prefix of the best beam", "every candidate was put behind the best beam.", lambda beams, *_: beams[0][1])),
        Fault("last step only", "the log-probability of the last symbol alone: what a beam had before was forgotten.",
            "add the new log-probability to the beam's own.", add=lambda total, log_prob: log_prob,
            order=lambda candidates, k: sorted(candidates, reverse=True)),
        Fault("step given the last symbol", "step was given the last symbol alone.", "give it the whole sequence so far.",
            asked=lambda sequence: sequence[-1:]),
        Fault("copies at the start", "the search started with several copies of the empty sequence: all beams are the same.",
            "start with one empty sequence; the first step makes several of it.", start=lambda k: [(0.0, [])] * k),
        Fault("one beam", "one beam only: that is greedy decoding.", "keep the num_beams best candidates at every step.",
            whole=lambda step, num_beams, *rest: _search(step, 1, *rest)),
    ),
    advice="follow the tree of the task by hand: write down all candidates of a step, their sums, and the best ones.",
)  # fmt: skip
