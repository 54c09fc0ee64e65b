"""All queries against all keys, in a batch."""

from ...exercise import Exercise, Fault
from ...kit.pairs import PAIR_FAULTS, all_pairs, pair_cases, unit
from ...kit.shapes import one_letter_for_two_axes

NORMALIZED = Fault("cosines", "the vectors are divided by their lengths: these are cosines, not dot products.",
                   "leave the vectors as they are.", of_queries=unit, of_keys=unit)  # fmt: skip

EXERCISE = Exercise(
    answer="all_pairs", cases=pair_cases, reference=all_pairs, returns=("similarities",),
    symptoms=(one_letter_for_two_axes,), faults=(*PAIR_FAULTS, NORMALIZED),
    advice="write the three index loops first: out[b, i, j] = sum over d of queries[b, i, d] * keys[b, j, d].",
)  # fmt: skip
