"""15.10 · What a ring costs."""

from ..deciding.exercise import Case, Exercise
from .common import MODULES, RINGS

NAMES = ("L", "P", "num_heads", "num_kv_heads", "d_head", "num_bytes", "flops", "bandwidth")


def cases(seed):
    sizes = [
        (30, 5, 6, 2, 5, 4, 1350, 80),
        (24, 4, 3, 3, 8, 2, 700, 30),
        (18, 3, 8, 2, 16, 2, 1e12, 3e9),
        (131_072, 8, 64, 8, 128, 2, 312e12, 12.5e9),
        (14 * (5 + seed % 6), 7, 6, 1, 7, 8, 5e13, 9e9),
        (12 * (4 + seed % 5), 6, 12, 4, 11, 1, 2e14, 1.7e11),
    ]
    return [Case(**dict(zip(NAMES, size, strict=True))) for size in sizes]


EXERCISE = Exercise(
    cases,
    returns=("sent", "kept", "fewest"),
    off_limits=(*RINGS, *(f"{MODULES}cluster_time.{name}" for name in ("smallest_hidden_block", "ring_time"))),
    rtol=1e-6,
    advice="take the statement's example. Write down the bytes of a rank's keys and values; then, for n tokens, the seconds "
    "that a step after the first computes, and those that it sends.",
)
