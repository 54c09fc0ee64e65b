"""8.3 · Move the keys in a cache."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import POSITIONS
from ..deciding.symptoms.side_effects import remembers


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    example = torch.tensor([[[[1.0, 0.0, 0.0, 1.0]]]])
    made = [Case(keys=example, old=torch.tensor([3]), new=torch.tensor([1]), base=100.0)]
    for (B, H, L, d), base, dtype, *labels in (
        ((2, 3, 1, 4), 100.0, torch.float32),
        ((2, 4, 5, 6), 10000.0, torch.float32),
        ((3, 2, 7, 8), 10000.0, torch.float64),
        ((1, 5, 4, 10), 500.0, torch.float32, "`old` is all zeros"),
        ((3, 2, 8, 6), 200.0, torch.float32),  # d_head 6 came first with base 10000
        ((2, 4, 5, 6), 10000.0, torch.float32, "an earlier call had the same sizes and base"),
        ((1, 2, 3, 2), 10000.0, torch.float32, "the positions are large"),  # turned by 1: exact in float32 too
    ):
        most = 1500 if "the positions are large" in labels else 40
        old, new = torch.randint(3, most, (2, L), generator=rng)
        if "`old` is all zeros" in labels:
            old = torch.zeros_like(new)
        keys = torch.randn(B, H, L, d, generator=rng).to(dtype)
        made.append(Case(*labels, keys=keys, old=old, new=new, base=base))
    return made


EXERCISE = Exercise(
    cases,
    returns=("moved keys",),
    off_limits=POSITIONS,
    gradients=True,
    symptoms=(remembers,),
    pairs=140,
    advice="turn [1, 0] by 2 for position 2 with base 1, then move it to position 3: it must be [cos 3, sin 3].",
)
