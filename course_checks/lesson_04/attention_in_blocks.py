"""4.5 · Attention in blocks."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import eighths

SIZES = (
    (1, 1, 2, 1, [2, 1]),
    (2, 5, 3, 6, [4, 4, 4]),
    (3, 4, 16, 2, [3, 1, 5]),
    (2, 3, 5, 4, [6]),
    (2, 5, 3, 6, [4, 4, 4]),
    (1, 6, 16, 12, [48] * 32),
)
LEVELS = {"scores are very large": (512.0,) * 4, "scores rise by thousands": (-32.0, 0.0, 8.0, 32.0)}


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = []
    for place, (B, L_q, d_k, d_v, sizes) in enumerate(SIZES):
        shapes = ((L_q, d_k), (sum(sizes), d_k), (sum(sizes), d_v))
        dtype = torch.float64 if place == 2 else torch.float32
        query, key, value = (torch.randn(B, *shape, generator=rng, dtype=dtype) for shape in shapes)
        made.append(Case(query=2 * query, key=key, value=value, block_sizes=sizes))
    for label, level in LEVELS.items():
        query, key = eighths(2, 4, 16, rng=rng).double(), eighths(2, 8, 16, rng=rng).double()
        query[..., 0] = torch.tensor([256.0, -256.0, 1.0, 0.0])  # scores of up to 32,768, and as far below 0
        key[..., 0] = torch.tensor(level).repeat_interleave(2)
        value = torch.randn(2, 8, 3, generator=rng).double()
        made.insert(-1, Case(label, query=query, key=key, value=value, block_sizes=[2] * 4))
    many = made[-1]
    many.labels, many.driver = ("there are many blocks",), {"watched": True}
    return made


EXERCISE = Exercise(
    cases,
    returns=("output",),
    driver="block_by_block",
    advice="go through the example by hand: maximum, sum and output after each block.",
    pairs=150,
)
