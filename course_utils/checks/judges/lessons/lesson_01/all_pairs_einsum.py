"""All queries against all keys by einsum."""

import torch

from ...exercise import Case, Exercise
from ...kit.pairs import PAIR_FAULTS, all_pairs, pair_cases
from ...kit.shapes import one_letter_for_two_axes
from ...symptoms.view import Told


def many(seed):
    """More items and positions than an answer may have operations."""
    rng = torch.Generator().manual_seed(seed)
    shapes = {"queries": (120, 5, 3), "keys": (120, 4, 3)}
    return Case("there are many items", **{n: torch.randn(s, generator=rng) for n, s in shapes.items()})


def loops(view):
    """Symptom: stopped for the number of its operations."""
    stopped = {view.cases[index].get("message", "") for index in view.wrong}
    if not all("it loops" in message for message in stopped):
        return None
    said = "your code is right, but it loops over the items or the pairs, an operation for each."
    return Told("symptom", "loops", said, "let one operation do all items at once: keep the batch axis in it.")


EXERCISE = Exercise(
    answer="all_pairs_einsum", cases=lambda seed: [*pair_cases(seed), many(seed)], reference=all_pairs, returns=("similarities",),
    symptoms=(loops, one_letter_for_two_axes), faults=PAIR_FAULTS,
    advice="name the axes: queries are b i d, keys are b j d, the result is b i j.",
)  # fmt: skip
