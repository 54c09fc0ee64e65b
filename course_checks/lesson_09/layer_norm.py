"""9.1 · LayerNorm."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import NORMS, norm_cases


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    # whole multiples of 1 / 1024: their sums are exact in float32, however they are taken, and their squares are not
    x = 30 + (torch.randint(1024, (4, 6, 1), generator=rng) + torch.randint(3, (4, 6, 8), generator=rng)) / 1024
    weight, bias = 1 + torch.rand(8, generator=rng), 1 + torch.rand(8, generator=rng)
    close = Case("the entries of a vector are large and nearly equal", x=x, weight=weight, bias=bias, eps=1e-5)
    return [*norm_cases(seed, with_bias=True), close]


EXERCISE = Exercise(
    cases,
    returns=("output",),
    off_limits=NORMS,
    gradients=True,
    rtol=5e-4,
    pairs=300,
    advice="with weight 1, bias 0 and a tiny eps each vector must come out with mean 0 and mean square 1.",
)
