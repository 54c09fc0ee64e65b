"""9.1 · A norm that vanishes into the next matrix."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(d_out, d, dtype=torch.float32):
        tensors = {
            "weight": 1 + 0.5 * torch.randn(d, generator=rng),
            "bias": torch.randn(d, generator=rng),
            "W": torch.randn(d_out, d, generator=rng),
            "c": torch.randn(d_out, generator=rng),
        }
        return Case(**{name: tensor.to(dtype) for name, tensor in tensors.items()})

    example = Case(
        weight=torch.tensor([2.0, 1.0]),
        bias=torch.tensor([1.0, 3.0]),
        W=torch.tensor([[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]]),
        c=torch.tensor([0.0, 10.0, 5.0]),
    )
    return [case(2, 2), example, case(4, 4), case(3, 5), case(6, 2, torch.float64), case(4, 4)]


EXERCISE = Exercise(
    cases,
    returns=("matrix", "bias"),
    gradients=True,
    pairs=150,
    advice="take one x, work out W @ (z * weight + bias) + c for its bare norm z, and compare with your two results.",
)
