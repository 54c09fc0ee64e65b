"""12.7 · Windows that overlap."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import TEXT_SCORES


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(N, length, stride, *labels, vocab=5, sharp=1.0, dtype=torch.float32):
        into, out = sharp * torch.randn(2, vocab, 4, generator=rng, dtype=dtype)
        ids = torch.randint(vocab, (N,), generator=rng)
        return Case(*labels, ids=ids, length=length, stride=stride, driver={"into": into, "out": 1.5 * out})

    overlap, tail = "windows overlap", "the last window is shorter"
    return [
        case(9, 4, 4),
        case(9, 4, 2, overlap),
        case(8, 4, 2, overlap, tail),
        case(24, 6, 4, overlap, tail),
        case(11, 5, 5, tail),
        case(20, 7, 1, overlap, vocab=7),
        case(30, 8, 3, overlap, tail, vocab=7, dtype=torch.float64),
        case(5, 9, 4, "one window holds the whole text"),
        case(1201, 20, 10, overlap, "the text has 1,201 characters", sharp=0.4),  # exp of a total overflows
    ]


EXERCISE = Exercise(
    cases,
    returns=("bits",),
    driver="drive_windows",
    off_limits=TEXT_SCORES,
    pairs=120,
    advice="print, for a text of 8 characters with length 4 and stride 2, which characters each window scores: 1-4, 5-6, 7.",
)
