"""3.1 · One attention step, wherever the padding is."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import ATTENTION, make_low, padding_keeps_weight


def arguments(rng, mask, d_state, d_enc, d_att, dtype=torch.float32):
    (B, L) = mask.shape

    def drawn(*shape, size=1.0):
        return size * torch.randn(*shape, generator=rng, dtype=dtype)

    return {
        "state": drawn(B, d_state),
        "encoded": 1.0 + drawn(B, L, d_enc),
        "W_q": drawn(d_att, d_state, size=d_state**-0.5),
        "W_k": drawn(d_att, d_enc, size=d_enc**-0.5),
        "w_v": drawn(d_att, size=1.5),
        "mask": mask,
    }


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def first(L, *lengths):
        return torch.arange(L) < torch.tensor(lengths)[:, None]

    anywhere = first(6, 3, 6, 4).flip(1)
    anywhere[1, 2] = False
    low = make_low(arguments(rng, first(7, 5, 3, 7), 4, 6, 9, torch.float64), 800.0, padding=30.0)
    return [
        Case(**arguments(rng, first(3, 3), 1, 2, 4)),
        Case(**arguments(rng, first(7, 5, 7), 4, 6, 9)),
        Case(**arguments(rng, first(6, 4, 1, 6), 8, 5, 7, torch.float64)),
        Case(**arguments(rng, first(5, 3, 5), 6, 10, 3)),
        Case("padding stands in front or between the letters", **arguments(rng, anywhere, 5, 4, 6)),
        Case("the scores are low, those of padding are high", **low, values_only=True),
        Case(**arguments(rng, first(7, 7, 4), 4, 6, 9)),  # sizes seen before, other numbers
    ]


EXERCISE = Exercise(
    cases,
    returns=("context", "weights"),
    off_limits=ATTENTION,
    gradients=True,
    pairs=100,
    symptoms=(padding_keeps_weight,),
    advice="work out one short word by hand: the scores of its real letters, their softmax, then the sum of states.",
)
