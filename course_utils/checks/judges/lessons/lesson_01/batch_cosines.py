"""Find the bug: all axes reversed for a transpose."""

import functools

import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.pairs import PAIR_FAULTS, all_pairs, pair_cases, unit
from ...kit.shapes import same, without_new_axes
from .all_pairs_einsum import loops, many


def _cases(seed):
    cases = pair_cases(seed + 1)
    return [*cases, many(seed), Case(**{name: value.double() / 3 for name, value in cases[1].items()})]


def _over_positions(vectors):
    return F.normalize(vectors, dim=1)


EXERCISE = Exercise(
    answer="batch_cosines", cases=_cases, returns=("cosines",), symptoms=(loops, without_new_axes("queries", "keys"),),
    reference=functools.partial(all_pairs, of_queries=unit, of_keys=unit), faults=(
        Fault("normalized over positions", "lengths are taken over the positions (dim=1), not over each vector.",
              "leave the normalization as it was given, dim=-1.", of_queries=_over_positions, of_keys=_over_positions),
        Fault("keys normalized over positions", "the keys' lengths are taken over the positions (dim=-1 after the transpose).",
              "normalize first, then transpose.", of_keys=_over_positions),
        Fault("normalization lost", "vectors keep their lengths.", "change the transpose only.", of_queries=same, of_keys=same),
        Fault("queries as they are", "the queries keep their lengths.", "change the transpose only.", of_queries=same),
        Fault("keys as they are", "the keys keep their lengths.", "change the transpose only.", of_keys=same),
        *PAIR_FAULTS[:-1],
    ), advice="run it on queries of shape (2, 5, 3) and keys of shape (2, 7, 3), and print the shape after every step.",
)  # fmt: skip
