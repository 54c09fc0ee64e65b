"""9.6 · A decoder layer."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import LAYERS, layer_arguments, padding


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L_t, L_s, H, d_head, training=False, dtype=torch.float32):
        arguments, seen = layer_arguments(rng, B, L_t, H, d_head, 3, training, dtype), padding(rng, B, L_s)
        seen = seen.flip(-1) if L_s == L_t else seen  # where one mask could stand for the other, they hide other places
        memory = 1.5 * torch.randn(B, L_s, H * d_head, generator=rng) + torch.randn(B, L_s, 1, generator=rng)
        target_mask = padding(rng, B, L_t) & torch.ones(L_t, L_t, dtype=torch.bool).tril()
        labels = ["the layer is in training"] * training + ["source and target have the same length"] * (L_s == L_t)
        arguments = {"x": arguments.pop("x"), "memory": memory.to(dtype), **arguments}
        return Case(*labels, values_only=training, **arguments, target_mask=target_mask, memory_mask=seen)

    first = [case(2, 3, 4, 2, 2), case(2, 3, 4, 2, 2, training=True), case(2, 4, 4, 2, 3)]
    return [*first, case(3, 5, 4, 4, 2, dtype=torch.float64), case(2, 4, 4, 2, 3)]


EXERCISE = Exercise(
    cases,
    returns=("output",),
    expects="class",
    driver="drive_decoder",
    off_limits=LAYERS,
    gradients=True,
    atol=2e-5,
    pairs=30,
    advice="for each attention ask two things: where do keys and values come from, and whose mask hides some of them?",
)
