"""5.2 · A causal mask that works with a cache."""

import torch

from ..deciding.exercise import Case, Exercise, mistake
from .common import MASKS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    more, L_q = (int(torch.randint(*bounds, (), generator=rng)) for bounds in ((2, 5), (4, 8)))
    sizes = ((3, 3), (2, 5), (1, 6), (4, 5), (2, 4), (3, 3 + more), (5, 5), (L_q, L_q + more + 1))
    return [Case(L_q=L_q, L_k=L_k) for L_q, L_k in sizes]


EXERCISE = Exercise(
    cases,
    returns=("mask",),
    off_limits=MASKS,
    advice="write down the mask for L_q=2, L_k=5 by hand: the last query sees all five keys.",
    mistakes=[
        mistake(
            "a mask of shape (1, 1, L_q, L_k).",
            "two axes are asked for here, (L_q, L_k); the axes of size 1 come where the mask is used.",
            then=lambda mask: mask[None, None],
        )
    ],
)
