"""4.4 · Find the bug."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import ATTENTION

SIZES = ((1, 3, 6, 4, 4), (2, 5, 8, 3, 6), (3, 4, 5, 9, 2), (2, 6, 4, 4, 4), (2, 5, 8, 3, 6))


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = []
    for place, (B, L, d_model, d_k, d_v) in enumerate(SIZES):
        dtype = torch.float64 if place == 2 else torch.float32
        case = Case(x=torch.randn(B, L, d_model, generator=rng, dtype=dtype))
        for name, d, size in (("q_proj", d_k, 1.4), ("k_proj", d_k, 1.2), ("v_proj", d_v, 1.0)):
            case[f"{name}.weight"] = size * torch.randn(d, d_model, generator=rng, dtype=dtype) / d_model**0.5
            case[f"{name}.bias"] = 0.3 * torch.randn(d, generator=rng, dtype=dtype)
        made.append(case)
    return made


EXERCISE = Exercise(
    cases,
    returns=("output",),
    expects="class",
    driver="layer_with_these_numbers",
    off_limits=ATTENTION,
    gradients=True,
    pairs=40,
    advice="compare with PyTorch at sizes that all differ, such as (6, 3, 5). What it returns is a tensor (B, L, d_v).",
)
