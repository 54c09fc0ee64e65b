"""A softmax that does not overflow."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...kit.shapes import same


def softmax(
    scores, *, prepare=same, dim=-1, shift=lambda s, dim: s.amax(dim, keepdim=True), power=torch.exp,
    share=lambda p, s, dim: p / p.sum(dim, keepdim=True), after=same,
):  # fmt: skip
    """Exponentials of the shifted scores, divided by their sum."""
    scores = prepare(scores)
    return after(share(power(scores - shift(scores, dim)), scores, dim))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    mixed = torch.randn(3, 4, 6, generator=rng)
    mixed[0, 1], mixed[0, 2] = mixed[0, 1] + 1000.0, mixed[0, 2] - 1000.0
    large = torch.tensor([[1000.0, 999.0, 998.0], [-1000.0, -999.0, -1000.0], [1000.0, -1000.0, 999.0]])
    return [
        Case(scores=torch.tensor([[0.0, 1.0, 2.0], [0.5, -1.0, 0.0]])),
        Case(scores=torch.randn(5, 7, generator=rng)),
        Case(scores=1.5 * torch.randn(2, 3, 5, generator=rng)),
        Case(scores=torch.randn(2, 3, 5, generator=rng, dtype=torch.float64), values_only=True),
        Case("the scores are large", scores=large, values_only=True),
        Case("the scores are large", scores=mixed, values_only=True),
    ]


_KEEP = "write keepdim=True in the maximum and in the sum."
_OWN = "subtract the maximum of each row, scores.amax(dim=-1, keepdim=True): it changes no weight."
_SHARE = "divide each row by its own sum, of the same shifted exponentials: then it adds up to 1."

EXERCISE = Exercise(
    answer="softmax", cases=_cases, reference=softmax, returns=("weights",), faults=(
        *faults_of("shift", _OWN,
            ("no shift", "the formula as it stands: exp(1000) is infinite and exp(-1000) is 0, so rows become NaN.",
             lambda s, dim: 0.0),
            ("one maximum for all", "a shift by the largest score of all: rows far below become 0 / 0.", lambda s, dim: s.max()),
            ("shift by the mean", "a shift by the mean or minimum: high scores overflow.", lambda s, dim: s.mean(dim, True)),
            ("shift by the largest size", "a shift by the largest absolute value: a row of large negative scores becomes 0 / 0.",
             lambda s, dim: s.abs().amax(dim, keepdim=True)),
            ("keepdim missing in maximum", "the maximum has lost its axis.", lambda s, dim: s.amax(dim), _KEEP)),
        *faults_of("dim", "count from the end: dim=-1 is right for any number of axes.",
            ("over the queries", "a softmax over the queries (dim=-2): your columns sum to 1, your rows should.", -2),
            ("over the first", "a softmax over the first dimension (dim=0).", 0),
            ("over dim 1", "a softmax over dim=1: for a matrix the last dimension; with a batch in front the queries.", 1),
            ("over everything", "a softmax over everything: all weights together sum to 1, each row should.", ())),
        *faults_of("prepare", "keep the differences of the scores: shift the whole row instead.",
            ("divided by the maximum", "the scores were divided by their maximum.", lambda s: s / s.amax(-1, True)),
            ("clamped", "the scores were cut off, so 1000 and 999 get the same weight.", lambda s: s.clamp(-80, 80))),
        Fault("nan replaced", "NaN was replaced by a number afterwards; those rows do not sum to 1.", _OWN,
              shift=lambda s, dim: 0.0, after=torch.nan_to_num),
        Fault("no exponential", "the scores divided by their sum, without the exponential: negative weights come out.",
              "take the exponential of the shifted scores first.", shift=lambda s, dim: 0.0, power=same),
        *faults_of("share", _SHARE,
            ("shift in the numerator only", "the maximum is subtracted in the numerator only, not in the sum below.",
             lambda p, s, dim: p / s.exp().sum(dim, keepdim=True)),
            ("keepdim missing in sum", "the sum has lost its axis.", lambda p, s, dim: p / p.sum(dim), _KEEP)),
    ), advice="print your weights.sum(dim=-1): every entry must be 1, for scores of 1000 as well.",
)  # fmt: skip
