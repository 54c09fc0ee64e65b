"""What a layer with a softmax recalls, and one with a state of fixed size: ``python -m experiments recall``.

Every kind of layer is trained on texts of 4 to 64 pairs, from five seeds: with keys that come once, and with keys that come
twice, of which the later counts. Then states of other sizes, and ten times as many updates. A row holds the share of right
answers by number of pairs.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from course_utils.small_models.recall import D_HEAD, KINDS, PAIRS, STEPS, accuracy, train

from .runs import Run

SEEDS = (0, 1, 2, 3, 4)
SETTINGS = [
    *((kind, D_HEAD, task, STEPS) for task in ("once", "twice") for kind in KINDS),
    *((kind, d_head, "once", STEPS) for kind in ("linear", "delta") for d_head in (4, 16, 32)),
]
LONGER = [
    *((kind, D_HEAD, "once", 10 * STEPS) for kind in ("linear", "decay", "delta")),
    ("softmax", D_HEAD, "twice", 10 * STEPS),
]
FIELDS = ("kind", "d_head", "task", "updates", "seed", *(f"{pairs} pairs" for pairs in PAIRS))


def run(kind: str, d_head: int, task: str, updates: int, seed: int) -> list[dict[str, object]]:
    """One model, tested after its last update: a row of ``FIELDS``."""
    twice = task == "twice"
    ((_, model),) = train(kind, seed, d_head=d_head, twice=twice, steps=updates, every=updates)
    shares = [round(accuracy(model, pairs, twice=twice), 4) for pairs in PAIRS]
    return [dict(zip(FIELDS, (kind, d_head, task, updates, seed, *shares), strict=True))]


def runs(_table: Path) -> Iterator[Run]:
    """One run for each setting and seed; the long ones from one seed."""
    for seed in SEEDS:
        for setting in SETTINGS:
            yield dict(zip(FIELDS, (*setting, seed), strict=False)), partial(run, *setting, seed)
    for setting in LONGER:
        yield dict(zip(FIELDS, (*setting, 0), strict=False)), partial(run, *setting, 0)
