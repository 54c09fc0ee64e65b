"""Shares of a row."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.shapes import SQUEEZED, same


def shares(x, *, over=lambda x: x.sum(-1, keepdim=True), share=lambda x, over: x / over, finish=same):
    """Each number divided by ``over``."""
    return finish(share(x, over(x)))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def positive(*shape, dtype=torch.float32):
        return 0.1 + 5.0 * torch.rand(shape, generator=rng, dtype=dtype)

    shapes = ((5, 3), (2, 6), (4, 4), (4, 1), (5, 3))
    cases = [Case(x=torch.tensor([[1.0, 3.0]])), *(Case(x=positive(*shape)) for shape in shapes)]
    return [*cases, Case(x=positive(3, 4, dtype=torch.float64)), Case("the numbers are small", x=1e-5 * positive(3, 5))]


EXERCISE = Exercise(
    answer="shares", cases=_cases, reference=shares, returns=("shares",), faults=(
        Fault("divided by everything", "each number divided by the sum of the whole tensor, not of its own row.",
              "sum over the last dimension only: x.sum(dim=-1, ...).", over=lambda x: x.sum()),
        Fault("shares of the columns", "the shares of each column: your columns sum to 1, your rows should.",
              "dim=0 sums down a column; a row is summed with dim=-1.", over=lambda x: x.sum(0)),
        Fault("axis lost", "a division by sums of shape (n,): they line up with the columns, not with the rows.",
              "keep the summed axis with size 1: keepdim=True gives sums of shape (n, 1).", over=lambda x: x.sum(-1)),
        Fault("softmax", "a softmax: its rows sum to 1 too, but it takes exponentials first.",
              "[1, 3] has the shares 1/4, 3/4: divide the numbers as they are.", share=lambda x, over: x.softmax(-1)),
        Fault("sums returned", "the sum of each row; the division is still missing.", "divide x by these sums.",
              share=lambda x, over: over),
        SQUEEZED,
    ), advice="print x.shape and the shape of your sums: for x of shape (n, m) the sums need shape (n, 1).",
)  # fmt: skip
