"""9.4 · Who wrote this logit?"""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(n, L, d, V, eps, dtype=torch.float32):
        tensors = {
            "parts": torch.randn(n, L, d, generator=rng) + torch.randn(n, L, 1, generator=rng),
            "weight": 1 + 0.5 * torch.randn(d, generator=rng),
            "bias": torch.randn(d, generator=rng),
            "W": torch.randn(V, d, generator=rng),
        }
        return Case(**{name: tensor.to(dtype) for name, tensor in tensors.items()}, eps=eps)

    example = Case(
        parts=torch.tensor([[[3.0, 1.0]], [[-1.0, 3.0]]]),
        weight=torch.tensor([1.0, 1.0]),
        bias=torch.tensor([0.0, 1.0]),
        W=torch.tensor([[1.0, 0.0], [0.0, 2.0]]),
        eps=3.0,
    )
    first = [example, case(2, 3, 4, 4, 0.5), case(3, 2, 5, 7, 1e-5)]
    return [*first, case(5, 4, 3, 6, 1e-3, torch.float64), case(1, 3, 4, 2, 1e-5), case(2, 3, 4, 4, 0.5)]


EXERCISE = Exercise(
    cases,
    returns=("written", "rest"),
    gradients=True,
    rtol=5e-4,
    atol=2e-5,
    pairs=150,
    advice="add your contributions up over the parts, and add the rest: that must be W times the norm of the whole sum.",
)
