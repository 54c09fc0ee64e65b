"""8.3 · RoPE."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import POSITIONS
from ..deciding.symptoms.side_effects import remembers


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = [Case(x=torch.tensor([[[[1.0, 0.0, 0.0, 1.0]]]]), positions=torch.tensor([1]), base=100.0)]
    for (B, H, L, d), base, dtype, *labels in (
        ((2, 3, 1, 4), 100.0, torch.float32),
        ((2, 4, 5, 6), 10000.0, torch.float32),
        ((3, 2, 7, 8), 10000.0, torch.float64),
        ((1, 5, 4, 10), 500.0, torch.float32),
        ((3, 2, 8, 6), 200.0, torch.float32),  # d_head 6 came first with base 10000
        ((2, 4, 5, 6), 10000.0, torch.float32, "an earlier call had the same sizes and base"),
        ((1, 2, 3, 2), 10000.0, torch.float32, "the positions are large"),  # turned by 1: exact in float32 too
    ):
        places = torch.randint(3, 1500 if "the positions are large" in labels else 40, (L,), generator=rng)
        x = torch.randn(B, H, L, d, generator=rng).to(dtype)
        made.append(Case(*labels, x=x, positions=places, base=base))
    return made


EXERCISE = Exercise(
    cases,
    returns=("turned",),
    off_limits=POSITIONS,
    gradients=True,
    symptoms=(remembers,),
    pairs=140,
    advice="turn [1, 0] at position 2 with base 1: it must be [cos 2, sin 2]. Then print your table of angles: (L, d_head / 2).",
)
