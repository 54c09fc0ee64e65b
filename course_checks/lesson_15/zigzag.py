"""15.6 · Zigzag and back."""

from ..deciding.exercise import Case, Exercise
from .common import LAYOUTS, in_whole_numbers


def cases(seed):
    sizes = [(12, 3), (4, 2), (8, 2), (16, 4), (24, 4), (30, 3), (40, 5), (12 * (2 + seed % 5), 6)]
    alone = [(2, 1), (10, 1)]
    return [
        *(Case(L=length, P=ranks) for length, ranks in sizes),
        *(Case("there is a single rank", L=length, P=ranks) for length, ranks in alone),
    ]


EXERCISE = Exercise(
    cases,
    returns=("positions", "inverse"),
    compared=in_whole_numbers,
    off_limits=LAYOUTS,
    advice="cut 12 tokens into 6 chunks of 2 on paper and deal them out to 3 ranks, from both ends.",
)
