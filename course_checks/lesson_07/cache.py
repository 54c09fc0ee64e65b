"""7.2 · A key/value cache."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import stops_with
from .common import CACHES, keeps_for_all

FULL = "an update has no room"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch_size, num_kv_heads, max_len, d_head, new_positions, full, *labels, beside=False, overwrite=False):
        shape = (batch_size, num_kv_heads, sum(new_positions), d_head)
        keys, values = (torch.randn(shape, generator=rng) for _ in ("keys", "values"))
        if "all numbers of a position are 0" in labels:
            keys[:, :, 1:3], values[:, :, 1:3] = 0.0, 0.0
        sizes = {"batch_size": batch_size, "num_kv_heads": num_kv_heads, "max_len": max_len, "d_head": d_head}
        driver = {"full": full, "beside": beside, "overwrite": overwrite}
        return Case(*labels, **sizes, new_positions=new_positions, keys=keys, values=values, driver=driver)

    return [
        case(1, 1, 4, 2, [1, 1, 5, 1], 2, FULL),
        case(2, 3, 9, 4, [5, 1, 1, 2, 1], 4, FULL),  # filled to the last position before
        case(3, 2, 12, 5, [1, 4, 3, 5, 2, 2], 3, FULL),
        case(2, 3, 5, 4, [6, 2, 3], 0, FULL, "the first update has no room"),
        case(2, 2, 7, 3, [2, 1, 3], 3, "all numbers of a position are 0"),
        case(2, 3, 8, 4, [3, 1, 2], 3, "another cache is in use beside it", beside=True),
        case(2, 3, 8, 4, [2, 3, 1], 3, "the tensors handed to update are changed after the call", overwrite=True),
    ]


EXERCISE = Exercise(
    cases,
    returns=("keys", "values", "length", "what the update without room raised"),
    expects="class",
    driver="drive_cache",
    off_limits=CACHES,
    symptoms=(
        stops_with(
            "after an update that had no room",
            "an update without room leaves something behind: the cache is not as it was before.",
            "look whether length + L_new fits before anything is written or counted.",
            "changed by a refused update",
        ),
        keeps_for_all,
    ),
    advice="after every update, print the length and the shapes of what comes back: axis 2 is as long as the text so far.",
)
