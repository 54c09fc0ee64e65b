"""9.3 · GELU, exact and by tanh."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    xs = [torch.tensor([-2.0, 0.0, 1.0, 3.0])]
    for shape, size, dtype in (
        ((2, 5), 1.5, torch.float32),
        ((2, 3, 4), 3.0, torch.float32),
        ((7,), 2.0, torch.float64),
        ((2, 5), 1.5, torch.float32),
    ):
        xs.append(size * torch.randn(shape, generator=rng, dtype=dtype))
    return [Case(f"`by_tanh` is {by_tanh}", x=x, by_tanh=by_tanh) for x in xs for by_tanh in (False, True)]


EXERCISE = Exercise(
    cases,
    returns=("result",),
    off_limits=(
        *(f"torch.nn.{name}" for name in ("functional.gelu", "GELU")),
        *("torch.special.ndtr", "torch.special.log_ndtr", "torch.distributions.Normal"),
    ),
    gradients=True,
    rtol=1e-5,
    atol=1e-6,
    pairs=200,
    advice="at 0 the result is 0, far to the right it is x, far to the left 0; at 1 it is 0.84134.",
)
