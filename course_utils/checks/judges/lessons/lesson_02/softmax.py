"""A softmax that does not overflow."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.shapes import same

ALL = ()  # over every axis


def softmax(
    scores, *, prepare=same, dim=-1, shift=lambda scores, dim: scores.amax(dim, keepdim=True), power=torch.exp,
    share=lambda powers, scores, dim: powers / powers.sum(dim, keepdim=True), after=same,
):  # fmt: skip
    """Exponentials of the shifted scores, divided by their sum."""
    scores = prepare(scores)
    powers = power(scores - shift(scores, dim))
    return after(share(powers, scores, dim))


def no_shift(scores, dim):
    """Scores as they are."""
    return 0.0


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
_COUNT = "count from the end: dim=-1 is right for any number of axes."

EXERCISE = Exercise(
    answer="softmax", cases=_cases, reference=softmax, returns=("weights",), faults=(
        Fault("no shift", "the formula as it stands: exp(1000) is infinite and exp(-1000) is 0, so rows become NaN.",
              "subtract the maximum of each row before the exponential; it changes no weight.", shift=no_shift),
        Fault("over the queries", "a softmax over the queries (dim=-2): your columns sum to 1, your rows should.",
              "normalize over the last dimension, dim=-1, where the keys are.", dim=-2),
        Fault("over the first", "a softmax over the first dimension (dim=0).", _COUNT, dim=0),
        Fault("over dim 1", "a softmax over dim=1: for a matrix the last dimension; with a batch in front the queries.",
              _COUNT, dim=1),
        Fault("over everything", "a softmax over everything: all weights together sum to 1, each row should.",
              "sum over dim=-1 only, with keepdim=True.", dim=ALL),
        Fault("one maximum for all", "a shift by the largest score of all: a row far below it becomes 0 / 0.",
              "every row needs its own maximum: amax(dim=-1, keepdim=True).", shift=lambda s, dim: s.max()),
        Fault("shift by the mean", "a shift by the mean or minimum of the row: scores far above overflow.",
              "subtract the maximum: then no exponent is above 0.", shift=lambda s, dim: s.mean(dim, keepdim=True)),
        Fault("shift by the largest size", "a shift by the largest absolute value: a row of large negative scores becomes 0 / 0.",
              "subtract the maximum itself, with its sign.", shift=lambda s, dim: s.abs().amax(dim, keepdim=True)),
        Fault("shift in the numerator only", "the maximum is subtracted in the numerator only, not in the sum below.",
              "use the shifted scores in both places.", share=lambda p, s, dim: p / s.exp().sum(dim, keepdim=True)),
        Fault("divided by the maximum", "the scores were divided by their maximum: that is a temperature.",
              "subtract the maximum instead of dividing by it.", prepare=lambda s: s / s.amax(-1, keepdim=True)),
        Fault("clamped", "the scores were cut off, so 1000 and 999 get the same weight.",
              "keep their differences: shift the whole row instead.", prepare=lambda s: s.clamp(-80, 80)),
        Fault("nan replaced", "NaN was replaced by a number afterwards; those rows do not sum to 1.",
              "subtract the maximum of each row first.", shift=no_shift, after=torch.nan_to_num),
        Fault("no exponential", "the scores divided by their sum, without the exponential: negative weights come out.",
              "take the exponential of the shifted scores first.", shift=no_shift, power=same),
        Fault("hard maximum", "a hard maximum: all the weight on the best key.", "a softmax gives every key a share.",
              power=lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype)),
        Fault("not normalized", "the exponentials of the scores, not yet divided by their sum.",
              "divide each row by its sum, so that it adds up to 1.", share=lambda p, s, dim: p),
        Fault("logarithm", "the logarithm of the weights: all your values are negative.", "leave the logarithm out.",
              whole=lambda scores: scores.log_softmax(-1)),
        *(Fault(f"{eps:g} added", f"{eps:g} is added to the sum: your rows sum to a little less than 1.",
                "leave it out: the largest exponential is 1, so the sum is never 0.",
                share=lambda p, s, dim, eps=eps: p / (p.sum(dim, keepdim=True) + eps))
          for eps in (1e-3, 1e-5, 1e-6, 1e-8)),
        Fault("keepdim missing in maximum", "the maximum has lost its axis: it no longer lines up with its row.", _KEEP,
              shift=lambda s, dim: s.amax(dim)),
        Fault("keepdim missing in sum", "the sum has lost its axis: it no longer lines up with its row.", _KEEP,
              share=lambda p, s, dim: p / p.sum(dim)),
    ), advice="print your weights.sum(dim=-1): every entry must be 1, for scores of 1000 as well.",
)  # fmt: skip
