"""8.7 · Find the bugs."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import POSITIONS
from ..deciding.symptoms.side_effects import remembers


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    unit = torch.tensor([1.0, 0.0])
    made = [Case(query=unit.repeat(1, 1, 2, 1), key=unit.repeat(1, 1, 3, 1))]
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
    advice="print the rows of turned_query beside those of turned_key: equal content at the same position must come out equal.",
)
