"""13.2 · Find the bug: a detector that gives every head a point."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import SCORES, causal_weights


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(heads, length, lengths, *labels):
        weights = causal_weights(len(lengths), heads, length, rng)
        return Case(*labels, weights=weights, lengths=torch.tensor(lengths))

    short = "a string has one letter"
    stripe = torch.eye(4).roll(-1, dims=1)
    stripe[0] = torch.eye(4)[0]
    return [
        Case(weights=torch.stack([stripe, torch.eye(4)])[None], lengths=torch.tensor([4])),
        case(3, 5, [5]),
        case(2, 6, [6, 6, 6]),
        case(2, 7, [7, 3]),
        case(4, 9, [2, 9, 5]),
        case(4, 9, [6, 4, 8]),
        case(3, 6, [1, 6, 4, 1], short),
        case(2, 8, [3, 8, 6, 7, 2]),
    ]


EXERCISE = Exercise(
    cases,
    returns=("scores",),
    off_limits=SCORES,
    advice="take one string of two letters: only the second letter has one before it, so the score is the weight from the "
    "second letter to the first.",
)
