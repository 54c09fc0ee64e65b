"""15.4 · Who sends what when."""

from ..deciding.exercise import Case, Exercise
from .common import RINGS


def cases(seed):
    names = ("P", "B", "L", "num_heads", "num_kv_heads", "d_head", "num_bytes")
    sizes = [
        (3, 1, 6, 4, 2, 5, 4),
        (2, 2, 8, 4, 4, 8, 4),
        (4, 3, 24, 8, 2, 16, 2),
        (5, 1, 35, 6, 1, 7, 8),
        (8, 2, 1024 + 64 * (seed % 7), 12, 3, 32, 2),
        (7, 3, 7 * (2 + seed % 5), 9, 3, 11, 4),
    ]
    alone = [(1, 2, 10, 4, 2, 6, 4), (1, 1, 3, 8, 2, 4, 2)]
    cases = [Case(**dict(zip(names, size, strict=True))) for size in sizes]
    return [*cases, *(Case("there is a single rank", **dict(zip(names, size, strict=True))) for size in alone)]


EXERCISE = Exercise(
    cases,
    returns=("holders", "there", "back", "ring_held", "gathered_held"),
    off_limits=RINGS,
    advice="draw three ranks in a circle, and write down after each step which block each of them has.",
)
