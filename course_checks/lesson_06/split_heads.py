"""6.1 · Split into heads."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import HEADS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    places = 10.0 * torch.arange(2)[:, None] + torch.arange(4)
    sizes = ((2, 5, 12, 4), (3, 7, 10, 2), (2, 3, 8, 1), (4, 6, 5, 5), (2, 5, 12, 4))  # the last one seen before
    made = [Case(x=torch.randn(B, L, d, generator=rng), num_heads=H) for B, L, d, H in sizes]
    double = torch.randn(2, 4, 6, generator=rng, dtype=torch.float64)
    x = torch.randn(2, 5, 6, generator=rng)
    turned = Case("`x` comes from a transpose", driver={"turned": True}, x=x, num_heads=2)
    return [Case(x=places[None], num_heads=2), *made, Case(x=double, num_heads=3), turned]


EXERCISE = Exercise(
    cases,
    returns=("heads",),
    driver="turned",
    off_limits=HEADS,
    gradients=True,
    advice="try the example of the task: head 1 must hold the last features of every token.",
)
