"""0.1 · Shares of a row."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    positive = [0.1 + 5.0 * torch.rand(*shape, generator=rng) for shape in ((5, 3), (2, 6), (4, 4), (4, 1), (3, 5))]
    return [
        Case(x=torch.tensor([[1.0, 3.0]])),
        *(Case(x=x) for x in positive),
        Case(x=0.1 + 5.0 * torch.rand(3, 4, generator=rng, dtype=torch.float64)),
        Case("the numbers are small", x=1e-7 * positive[-1]),
        Case("the numbers are large", x=100 * positive[0]),
    ]


EXERCISE = Exercise(
    cases,
    returns=("shares",),
    off_limits=("torch.nn.functional.normalize",),
    advice="print x.shape and the shape of your sums: for x of shape (n, m) the sums need shape (n, 1).",
)
