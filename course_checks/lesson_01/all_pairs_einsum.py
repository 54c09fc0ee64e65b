"""1.4 · All queries against all keys."""

from ..deciding.exercise import Exercise
from ..deciding.off_limits import MATRIX_PRODUCTS, SIMILARITIES
from .common import TOO_MANY, loops, many_items, pair_cases


def cases(seed):
    return [*pair_cases(seed), *many_items(seed)]


EXERCISE = Exercise(
    cases,
    returns=("similarities",),
    off_limits=(*MATRIX_PRODUCTS, *SIMILARITIES),
    most_operations=100,
    too_many=TOO_MANY,
    advice="name the axes: queries are b i d, keys are b j d, the result is b i j.",
    symptoms=(loops,),
)
