"""9.2 · Let RMSNorm do LayerNorm's work."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(d, d_in, dtype=torch.float32):
        weight = torch.randn(d, d_in, generator=rng) + 0.5 * torch.randn(1, d_in, generator=rng)
        return Case(weight=weight.to(dtype), bias=(1 + torch.randn(d, generator=rng)).to(dtype))

    example = Case(weight=torch.tensor([[1.0, 2.0], [3.0, 0.0], [2.0, 7.0]]), bias=torch.tensor([3.0, 0.0, 0.0]))
    return [example, case(4, 4), case(3, 5), case(6, 2, torch.float64), case(4, 4)]


EXERCISE = Exercise(
    cases,
    returns=("weight", "bias"),
    gradients=True,
    pairs=100,
    advice="send an input through both layers. What yours gives must sum to 0, and all its entries must differ from the old "
    "ones by one and the same number.",
)
