"""7.7 · A layer that writes with a cache."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import HEADS
from .common import CACHE, READY_MADE, keeps_for_all


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, pieces, heads, kv_heads, d_head, *labels, beside=False, counted=False):
        d_model = heads * d_head
        rows = {"W_q": d_model, "W_k": kv_heads * d_head, "W_v": kv_heads * d_head, "W_o": d_model}
        weights = {name: 1.4 * torch.randn(n, d_model, generator=rng) / d_model**0.5 for name, n in rows.items()}
        x, driver = torch.randn(batch, sum(pieces), d_model, generator=rng), {"beside": beside, "counted": counted}
        return Case(*labels, driver=driver, **weights, num_heads=heads, num_kv_heads=kv_heads, x=x, pieces=pieces)

    several = "a later piece has several positions"
    return [
        case(1, [2, 1, 1], 2, 1, 2),
        case(2, [5, 1, 1, 1], 6, 2, 3),
        case(2, [1, 4, 3], 4, 2, 3, several),
        case(3, [2, 3, 1, 4], 6, 3, 2, several),  # in float32 all: the Cache of 7.2, which may be used, holds no other
        case(2, [7], 4, 2, 3, "all positions in one piece"),
        case(2, [1, 2, 2], 3, 3, 2, several),
        case(2, [3, 2, 1], 4, 1, 3, several, "another layer is in use beside it", beside=True),
        case(
            1, [1] * 16, 4, 4, 32, "the text comes in 16 pieces", counted=True
        ),  # wide: projections are most of the work
    ]


EXERCISE = Exercise(
    cases,
    returns=("outputs of all steps, joined", "work for earlier positions"),
    expects="class",
    driver="write_in_pieces",
    off_limits=(*READY_MADE, *HEADS, CACHE),
    symptoms=(keeps_for_all,),
    advice="feed a text of three positions at once, then one by one: the first row that differs tells what is missing.",
)
