"""3.2 · A score that knows where it looked last."""

import torch
import torch.nn.functional as F

from ..deciding.exercise import Case, Exercise
from .common import ATTENTION, make_low, padding_keeps_weight

# mask, d_hidden, d_enc, d_att, filters, r, labels
CASES = (
    ("111", 1, 2, 4, 1, 1, ()),
    ("11111000 11111111", 4, 6, 9, 3, 2, ()),
    ("0011111 1111111 1101110", 5, 4, 6, 2, 1, ("padding stands in front or between the letters",)),
    ("11111 11100", 3, 7, 5, 4, 0, ("the filters have width 1",)),
    ("11 10", 4, 3, 8, 2, 3, ("the filters are wider than the word",)),
    ("111111 111100 000111", 6, 5, 7, 3, 1, ()),
    ("11111000 11111111", 4, 6, 9, 3, 2, ()),  # sizes seen before, other numbers
)


def arguments(rng, mask, d_hidden, d_enc, d_att, n, r, dtype=torch.float32):
    mask = torch.tensor([[letter == "1" for letter in row] for row in mask.split()])
    (B, L) = mask.shape

    def drawn(*shape, size=1.0):
        return size * torch.randn(*shape, generator=rng, dtype=dtype)

    previous = torch.softmax(drawn(B, L, size=2.0).masked_fill(~mask, -torch.inf), dim=-1)
    previous[-1] = F.one_hot(mask[-1].long().argmax(), L)  # one word was looked at where it begins
    return {
        "state": drawn(B, d_hidden),
        "encoded": drawn(B, L, d_enc),
        "previous": previous,
        "filters": drawn(n, 2 * r + 1, size=2.0),
        "W_q": drawn(d_att, d_hidden, size=d_hidden**-0.5),
        "W_k": drawn(d_att, d_enc, size=d_enc**-0.5),
        "W_f": drawn(d_att, n),
        "w_v": drawn(d_att, size=1.5),
        "mask": mask,
    }


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    dtypes = [torch.float64 if place == 5 else torch.float32 for place in range(len(CASES))]
    made = [
        Case(*labels, **arguments(rng, *sizes, dtype)) for (*sizes, labels), dtype in zip(CASES, dtypes, strict=True)
    ]
    low = arguments(rng, "1111100 0111110", 4, 6, 9, 3, 1, torch.float64)
    low["W_f"][0] = 0.0
    return [*made, Case("the scores are low", **make_low(low, 800.0), values_only=True)]


EXERCISE = Exercise(
    cases,
    returns=("weights",),
    off_limits=ATTENTION,
    gradients=True,
    pairs=100,
    symptoms=(padding_keeps_weight,),
    advice="print f for the example: one look at letter 1 and the filter [1, 0, 0] must give 0, 0, 1, 0.",
)
