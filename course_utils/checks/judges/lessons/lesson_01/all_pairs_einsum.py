"""All queries against all keys by einsum."""

from ...exercise import Exercise
from ...kit.pairs import PAIR_FAULTS, all_pairs, pair_cases
from ...kit.shapes import one_letter_for_two_axes

EXERCISE = Exercise(
    answer="all_pairs_einsum", cases=pair_cases, reference=all_pairs, returns=("similarities",),
    symptoms=(one_letter_for_two_axes,), faults=PAIR_FAULTS,
    advice="name the axes: queries are b i d, keys are b j d, the result is b i j.",
)  # fmt: skip
