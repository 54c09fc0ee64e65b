"""9.6 · A decoder layer that asks several memories."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import LAYERS, layer_arguments, padding


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L_t, lengths, H, d_head, training=False, dtype=torch.float32):
        arguments, masks = layer_arguments(rng, B, L_t, H, d_head, 3, training, dtype), {}
        memories = {}
        for number, L in enumerate(lengths, start=1):
            memory = 1.5 * torch.randn(B, L, H * d_head, generator=rng) + torch.randn(B, L, 1, generator=rng)
            memories[f"memory_{number}"] = memory.to(dtype)
            masks[f"mask_{number}"] = padding(rng, B, L)
        target_mask = padding(rng, B, L_t) & torch.ones(L_t, L_t, dtype=torch.bool).tril()
        labels = ["the layer is in training"] * training + ["there is one memory only"] * (len(lengths) == 1)
        labels += ["the memories have the same length"] * (len(lengths) > 1 and len(set(lengths)) == 1)
        arguments = {"x": arguments.pop("x"), **memories, **arguments}
        return Case(*labels, values_only=training, **arguments, target_mask=target_mask, **masks)

    first = [case(2, 3, (4,), 2, 2), case(2, 3, (4, 3), 2, 2), case(2, 3, (4, 3), 2, 2, training=True)]
    return [
        *first,
        case(2, 4, (4, 4), 2, 3),
        case(3, 5, (4, 2, 3), 4, 2, dtype=torch.float64),
        case(2, 4, (5, 3), 2, 3),
    ]


EXERCISE = Exercise(
    cases,
    returns=("output",),
    expects="class",
    driver="drive_decoder",
    off_limits=LAYERS,
    gradients=True,
    atol=2e-5,
    pairs=300,
    advice="for each attention ask two things: where do keys and values come from, and whose mask hides some of them?",
)
