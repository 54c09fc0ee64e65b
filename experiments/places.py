"""Five ways to tell a layer of attention where its tokens stand: ``python -m experiments places``.

Models that differ in their positions alone are trained alike on sequences of 12 tokens, from five seeds, and tested on
lengths up to 96. The table holds the share of wrong answers, one line a measurement.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from course_utils.small_models.places import ENCODINGS, LENGTHS, STEPS, train, wrong

from .runs import Run

SEEDS = (0, 1, 2, 3, 4)
LAYERS = [(1, encoding) for encoding in ENCODINGS] + [(2, "none"), (2, "ALiBi")]  # layers, and how they are told
FIELDS = ("layers", "encoding", "seed", "length", "question", "wrong")


def run(encoding: str, seed: int, layers: int, steps: int = STEPS) -> list[dict[str, object]]:
    """One model, trained and tested at every length: rows of ``FIELDS``."""
    *_, model = train(encoding, seed, layers, steps)
    rows = []
    for length in LENGTHS:
        for question, share in enumerate(wrong(model, length).tolist(), start=1):
            rows.append(dict(zip(FIELDS, (layers, encoding, seed, length, question, round(share, 4)), strict=True)))
    return rows


def runs(_table: Path) -> Iterator[Run]:
    """One run for each kind of positions and seed."""
    for layers, encoding in LAYERS:
        for seed in SEEDS:
            yield {"layers": layers, "encoding": encoding, "seed": seed}, partial(run, encoding, seed, layers)
