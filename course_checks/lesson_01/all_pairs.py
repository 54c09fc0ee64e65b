"""1.3 · All queries against all keys, in a batch."""

from ..deciding.exercise import Exercise
from .common import PRODUCTS, pair_cases

EXERCISE = Exercise(
    pair_cases,
    returns=("similarities",),
    off_limits=PRODUCTS,
    advice="write the three index loops first: out[b, i, j] = sum over d of queries[b, i, d] * keys[b, j, d].",
)
