"""6.1 · Split what a checkpoint packed."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import HEADS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    places = 20.0 * torch.arange(2)[:, None] + torch.arange(12)
    sizes = (
        (2, 5, 4, 2),
        (3, 7, 2, 5),
        (2, 6, 1, 4),
        (4, 3, 5, 6),
        (2, 4, 3, 3),
        (2, 5, 4, 2),
    )  # the last one seen before
    made = [Case(qkv=torch.randn(B, L, 3 * H * d, generator=rng), num_heads=H) for B, L, H, d in sizes]
    double = torch.randn(2, 4, 18, generator=rng, dtype=torch.float64)
    qkv = torch.randn(2, 5, 12, generator=rng)
    turned = Case("`qkv` comes from a transpose", driver={"turned": True}, qkv=qkv, num_heads=2)
    return [Case(qkv=places[None], num_heads=2), *made, Case(qkv=double, num_heads=3), turned]


EXERCISE = Exercise(
    cases,
    returns=("q", "k", "v"),
    driver="turned",
    off_limits=HEADS,
    gradients=True,
    advice="try the example of the task: the queries of token 0 are 0 and 1 in head 0, 6 and 7 in head 1.",
)
