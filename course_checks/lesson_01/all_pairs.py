"""1.3 · All queries against all keys, in a batch."""

from ..deciding.exercise import Exercise
from ..deciding.off_limits import SIMILARITIES
from .common import pair_cases

EXERCISE = Exercise(
    pair_cases,
    returns=("similarities",),
    off_limits=SIMILARITIES,
    advice="write the three index loops first: out[b, i, j] = sum over d of queries[b, i, d] * keys[b, j, d].",
)
