"""7.1 · How long a text fits."""

import torch

from ..deciding.exercise import Case, Exercise

NAMES = (
    "memory", "num_layers", "num_windowed", "window", "batch_size", "num_heads", "num_kv_heads", "d_head", "bytes_per_number",
)  # fmt: skip
SHORT, PLAIN, FULL, NONE = "no window is full", "no layer has a window", "the windows are full", "nothing fits"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    layers, batch, kv = (int(torch.randint(low, high, (), generator=rng)) for low, high in ((20, 60), (3, 9), (2, 7)))
    one = 2 * batch * kv * 24 * 2  # bytes of a position in one layer
    return [
        case(FULL, 500, 4, 3, 6, 1, 4, 1, 2, 4),
        case(SHORT, 200, 4, 3, 6, 1, 4, 1, 2, 4),
        case(
            SHORT, 96 * 4, 4, 3, 6, 1, 4, 1, 2, 4
        ),  # each layer has six: the windows are full, and nothing is left over
        case(FULL, 27 * 16, 4, 3, 6, 1, 4, 1, 2, 4),  # 27 by 4 is 6 cut down, yet the windows are full
        case(PLAIN, 40 * 10**9, 32, 0, 4096, 8, 32, 8, 128, 2),
        case(NONE, 4 * 16 - 1, 4, 3, 6, 1, 4, 1, 2, 4),
        case(FULL, one * (13 * 500 + (layers - 13) * 1777) + one - 1, layers, 13, 500, batch, 3 * kv, kv, 24, 2),
        case(SHORT, one * layers * 321 + one, layers, layers - 1, 500, batch, 3 * kv, kv, 24, 2),
        case(FULL, 24 * 10**9 + 17, 26, 22, 512, 5, 4, 1, 256, 2),
        case(FULL, 10**24 + 12_345_678_901, 7, 3, 10**6, 2, 6, 3, 8, 4),  # more digits than a float holds
    ]


def case(label, *numbers):
    return Case(label, **dict(zip(NAMES, numbers, strict=True)))


EXERCISE = Exercise(
    cases,
    returns=("length",),
    off_limits=("course_utils.widgets.cache_calculator.ModelShape",),
    rtol=0.0,  # a whole number, to its last digit
    atol=0.0,
    advice="take the statement's example: for each length from 1 on, add up what the four layers keep, and stop in time.",
)
