"""9.5 · An encoder layer."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import LAYERS, layer_arguments, padding


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L, H, d_head, pre_norm, training=False, dtype=torch.float32):
        arguments = layer_arguments(rng, B, L, H, d_head, 2, training, dtype)
        mask = padding(rng, B, L)
        labels = [f"`pre_norm` is {pre_norm}", "the layer is in training"][: 1 + training]
        if H == 3:  # another mask for every head and query; each query sees itself
            mask = (torch.rand(B, H, L, L, generator=rng) < 0.5) | torch.eye(L, dtype=torch.bool)
            labels.append("the mask differs from head to head")
        return Case(*labels, values_only=training, **arguments, pre_norm=pre_norm, mask=mask)

    modes = ((True, False), (False, False), (True, True), (False, True))  # pre_norm, training
    small = [case(2, 3, 2, 2, *mode) for mode in modes]
    return [*small, case(2, 5, 4, 3, True, dtype=torch.float64), case(3, 4, 1, 5, False), case(2, 4, 3, 2, True)]


EXERCISE = Exercise(
    cases,
    returns=("output",),
    expects="class",
    driver="drive_encoder",
    off_limits=LAYERS,
    gradients=True,
    atol=2e-5,
    pairs=80,
    advice="two connections of 9.4, one after the other: attention with norm_1, then the network with norm_2.",
)
