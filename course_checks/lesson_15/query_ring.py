"""15.5 · Let the queries travel."""

from ..deciding.exercise import Case, Exercise
from .common import RINGS, in_whole_numbers


def cases(seed):
    names = ("P", "B", "L_q", "L_k", "num_heads", "num_kv_heads", "d_head", "num_bytes")
    sizes = [
        (3, 1, 3, 12, 4, 2, 5, 2),
        (2, 2, 4, 8, 4, 4, 8, 4),
        (4, 3, 8, 24, 8, 2, 16, 2),
        (5, 1, 35, 15, 6, 1, 7, 8),
        (8, 2, 16 + 8 * (seed % 5), 1024 + 64 * (seed % 7), 12, 3, 32, 2),
        (7, 3, 14, 7 * (2 + seed % 5), 9, 3, 11, 4),
    ]
    alone = [(1, 1, 2, 8, 4, 2, 5, 2), (1, 3, 5, 5, 8, 2, 4, 4)]
    cases = [Case(**dict(zip(names, size, strict=True))) for size in sizes]
    return [*cases, *(Case("there is a single rank", **dict(zip(names, size, strict=True))) for size in alone)]


EXERCISE = Exercise(
    cases,
    returns=("holders", "keys_sent", "queries_sent"),
    compared=in_whole_numbers,
    off_limits=RINGS,
    advice="draw three ranks in a circle, and write down after each step what each of them hands to the rank before it.",
)
