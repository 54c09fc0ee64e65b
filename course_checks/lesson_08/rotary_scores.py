"""8.7 · Find the bug."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import POSITIONS
from ..deciding.symptoms.side_effects import remembers


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = []
    for B, H, L_q, L_k, d in (
        (1, 1, 2, 2, 4),
        (2, 4, 5, 7, 6),
        (3, 2, 6, 6, 8),
        (1, 3, 1, 5, 10),
        (2, 4, 3, 9, 6),
        (2, 4, 5, 7, 6),
    ):
        query, key = torch.randn(B, H, L_q, d, generator=rng), torch.randn(B, H, L_k, d, generator=rng)
        made.append(Case(query=query, key=key))
    made[-1].labels = ("an earlier call had the same sizes",)
    return made


EXERCISE = Exercise(
    cases,
    returns=("scores",),
    off_limits=POSITIONS,
    gradients=True,
    symptoms=(remembers,),
    pairs=130,
    advice="the last query and the last key share a position: their score is q · k / sqrt(d_head), as if nothing were turned.",
)
