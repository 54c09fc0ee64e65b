"""9.4 · A residual connection, both ways."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import LAYERS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L, d, pre_norm, training, dtype=torch.float32):
        arguments = {
            "x": 1.5 * torch.randn(B, L, d, generator=rng) + torch.randn(B, L, 1, generator=rng),
            "norm.weight": 1 + 0.5 * torch.randn(d, generator=rng),
            "norm.bias": torch.randn(d, generator=rng),
        }
        matrix = (torch.randn(d, d, generator=rng) / d**0.5).to(dtype)
        arguments = {name: value.to(dtype) for name, value in arguments.items()}
        labels = [f"`pre_norm` is {pre_norm}", "the layer is in training"][: 1 + training]
        driver = {"matrix": matrix, "seed": int(torch.randint(10**6, (), generator=rng))}
        return Case(*labels, driver=driver, **arguments, dropout=0.4, pre_norm=pre_norm, training=training)

    modes = ((True, False), (False, False), (True, True), (False, True))  # pre_norm, training
    small = [case(2, 3, 4, *mode) for mode in modes]
    return [*small, case(3, 5, 6, True, False), case(3, 5, 6, False, False, torch.float64)]


EXERCISE = Exercise(
    cases,
    returns=("output",),
    expects="class",
    driver="drive_residual",
    off_limits=LAYERS,
    gradients=True,
    pairs=300,
    advice="write down both formulas of section 9.5, and go through yours from the inside out.",
)
