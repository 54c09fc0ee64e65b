"""1.6 · Find the bug."""

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import SIMILARITIES
from .common import COSINES, TOO_MANY, loops, many_items, pair_cases


def cases(seed):
    made = pair_cases(seed + 1)
    return [*made, *many_items(seed), Case(**{name: value.double() / 3 for name, value in made[1].items()})]


EXERCISE = Exercise(
    cases,
    returns=("cosines",),
    off_limits=(*COSINES, *SIMILARITIES),
    most_operations=100,
    too_many=TOO_MANY,
    advice="run it on queries of shape (2, 5, 3) and keys of shape (2, 7, 3), and print the shape after every step.",
    symptoms=(loops,),
)
