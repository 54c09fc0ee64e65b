"""Where five kinds of positions fail, and whether they are slow or blind: ``python -m experiments by_position``.

The models of ``places``, each trained on 12 tokens and tested at every position of 96, after as many updates as in ``places``
and after ten times as many. A row holds the share of wrong answers to one question at each position, empty where nothing is
asked.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from course_utils.small_models.places import ENCODINGS, LENGTHS, STEPS, train, wrong_by_position

from .runs import Run

SEEDS = (0, 1, 2, 3, 4)
LONG, LONGER = 10 * STEPS, 30 * STEPS
SETTINGS = [
    *((1, encoding, STEPS) for encoding in ENCODINGS),
    (1, "ALiBi", LONG),
    *((1, encoding, LONG) for encoding in reversed(ENCODINGS[:-1])),
    (2, "ALiBi", LONG),
    (1, "ALiBi", LONGER),
]  # layers, how they are told of positions, updates
EVERY = 250  # ALiBi's long runs are tested after so many updates, too
FIELDS = ("layers", "encoding", "seed", "updates", "after", "question", *map(str, range(max(LENGTHS))))


def run(encoding: str, seed: int, layers: int, updates: int) -> list[dict[str, object]]:
    """One model, trained and tested at every position: rows of ``FIELDS``."""
    rows = []
    for step, model in zip(range(50, updates + 50, 50), train(encoding, seed, layers, updates), strict=True):
        watched = encoding == "ALiBi" and layers == 1 and updates == LONG and step % EVERY == 0
        if not watched and step != updates:
            continue
        for question, shares in enumerate(wrong_by_position(model, max(LENGTHS)).tolist(), start=1):
            said = ["" if share != share else round(share, 3) for share in shares]  # NaN is not equal to itself
            rows.append(dict(zip(FIELDS, (layers, encoding, seed, updates, step, question, *said), strict=True)))
    return rows


def runs(_table: Path) -> Iterator[Run]:
    """One run for each setting and seed."""
    for layers, encoding, updates in SETTINGS:
        for seed in SEEDS:
            wanted = {"layers": layers, "encoding": encoding, "seed": seed, "updates": updates}
            yield wanted, partial(run, encoding, seed, layers, updates)
