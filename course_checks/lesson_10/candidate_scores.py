"""10.8 · Encode once, score many."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import as_numbers, part_of, stops_with, symptom
from .common import LOGS, padded

SHARP, LONG = "some logits are very large", "the candidates are long"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def random(vocab, dtype):
        return 1.2 * torch.randn(vocab, vocab, generator=rng, dtype=dtype)

    made = []
    for label, lengths, L_s, vocab, pad_id, dtype in (
        ("", (3, 4), 2, 5, 0, torch.float32),
        ("", (6, 3, 5), 4, 8, 0, torch.float32),
        ("", (4, 7, 5, 3), 3, 9, 6, torch.float64),
        ("", (3, 5), 5, 7, 2, torch.float32),
        ("there is one candidate", (4,), 4, 6, 3, torch.float32),
        (SHARP, (7, 7, 7), 4, 6, 0, torch.float64),
        (LONG, (361, 301), 3, 9, 0, torch.float64),  # a product of so many probabilities is 0 in floating point
    ):
        candidates = padded(rng, lengths, max(lengths), vocab, pad_id, 0 if pad_id else 1)
        source = torch.randint(1, vocab, (1, L_s), generator=rng)
        tables = {"target": random(vocab, dtype), "memory": random(vocab, dtype)}
        tables |= {"source": random(vocab, dtype)[:, :3], "read": random(vocab, dtype)[:3]}
        if label == SHARP:  # the softmax gives some symbols a probability of 0
            tables["memory"] = torch.where(torch.eye(vocab, dtype=torch.bool).roll(1, 1), 500.0, -500.0).to(dtype)
        labels = (label,) if label else ()
        made.append(Case(*labels, driver={"tables": tables}, source=source, candidates=candidates, pad_id=pad_id))
    return made


def floor(answer):
    """Right in short, ordinary cases and nowhere too low: something keeps a probability from becoming tiny."""
    wrong = set()
    for case, expected, actual in zip(answer.cases, answer.expected, answer.observed, strict=True):
        scores = part_of(actual["value"], 0, 2) if actual["outcome"] == "returned" else None
        right, scores = (side and as_numbers(side) for side in (part_of(expected["value"], 0, 2), scores))
        if scores is None or scores.shape != right.shape or not (scores > 1.01 * right).all():
            return None
        if not torch.allclose(scores, right, rtol=0.01):
            wrong.add((*case.labels, "")[0])
    looks_like = "the scores are too high where logits lie far apart: a probability is kept from becoming tiny."
    return symptom(looks_like, LOGS, "a lowest probability") if wrong and wrong <= {SHARP, LONG} else None


ONE = "encode the one row, then show its memory K times, a row for each candidate: look up expand."

EXERCISE = Exercise(
    cases,
    returns=("scores", "rows that went through encode"),
    driver="drive_candidates",
    pairs=80,
    symptoms=(
        stops_with(
            "a memory of shape (1,", "decode was given several candidates, and a memory that has only one row.", ONE
        ),
        floor,
    ),
    advice="work out a candidate of two labels by hand: which position of the logits judges each of them?",
)
