"""Does a layer with many narrow heads lack something, or is it slow? ``python -m experiments narrow_heads``.

The same width cut into one to sixteen heads, trained alike on two jobs at once. The table holds the error of each job on the
way, one line a measurement.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from course_utils.small_models.two_jobs import EVERY, STEPS, errors, train

from .runs import Run

SEEDS, HEADS = (0, 1, 2, 3, 4), (1, 2, 4, 8, 16)
FIELDS = ("heads", "seed", "step", "previous", "same")


def run(heads: int, seed: int, steps: int = STEPS, every: int = EVERY) -> Iterator[dict[str, object]]:
    """One model: rows of ``FIELDS``."""
    for step, model in train(heads, seed, steps, every):
        previous, same = (round(error, 5) for error in errors(model).tolist())
        yield dict(zip(FIELDS, (heads, seed, step, previous, same), strict=True))


def runs(_table: Path) -> Iterator[Run]:
    """One run for each number of heads and seed."""
    for heads in HEADS:
        for seed in SEEDS:
            yield {"heads": heads, "seed": seed}, partial(run, heads, seed)
