"""7.1 · The size of a cache."""

import math

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    layers = int(torch.randint(3, 60, (), generator=rng))
    batch, kv_heads = torch.randint(2, 9, (2,), generator=rng).tolist()
    groups = batch + 1  # not the same: two mistakes would cancel
    return [
        _case(1, 1, 6, 3, 4, 5, 4),
        _case(32, 8, 32, 8, 128, 8192, 2),
        _case(32, 3, 71, 1, 64, 2048, 1),
        _case(48, 2, 25, 25, 64, 1024, 4),  # as many key/value heads as heads
        _case(layers, batch, groups * kv_heads, kv_heads, 24, 1000 + seed % 97, 2),
        _case(31, 7, 15, 5, 125, 8191, 2),
    ]


def _case(*numbers):
    layers, batch, _, *others = numbers
    total = 2 * layers * batch * math.prod(others)
    rounded = torch.tensor(float(total)).item() != total
    labels = ("the number has more digits than a float32 holds",) if rounded else ()
    names = ("num_layers", "batch_size", "num_heads", "num_kv_heads", "d_head", "length", "bytes_per_number")
    return Case(*labels, **dict(zip(names, numbers, strict=True)))


EXERCISE = Exercise(
    cases,
    returns=("bytes",),
    off_limits=("course_utils.widgets.cache_calculator.ModelShape",),
    rtol=1e-12,  # bytes are counted, not measured
    atol=0.0,
    advice="work the first case by hand: 2 tensors of shape (batch_size, num_kv_heads, length, d_head) for each layer.",
)
