"""Recurrent models of several sizes with and without attention, by word length: ``python -m experiments bottleneck``.

All are trained alike: the same words, batches and number of updates, five seeds. A model without attention gets the width at
which it has as many parameters as its partner with attention. The table holds the counts, one line for each run and group of
lengths.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from course_utils.datasets.pronunciations import split
from course_utils.models import count_parameters
from course_utils.small_models.bottleneck import EVERY, PEAK, build, counts_by_length, epochs_of
from course_utils.training import fit, one_cycle_rate, seed_everything, teacher_forced_loss

from .runs import Run

WIDTHS = {16: 17, 32: 34, 64: 69, 128: 138}  # d_hidden with attention: d_hidden without, of nearly as many parameters
SEEDS = (0, 1, 2, 3, 4)
RUN = ("attention", "d_hidden", "seed")
FIELDS = (*RUN, "parameters", "updates", "shortest", "longest", "words", "wrong", "edits", "sounds")


def run(attention: bool, d_hidden: int, seed: int, *, progress: bool = True) -> list[dict[str, int]]:
    """Train one model and count its errors on the words for validation: one row, of ``FIELDS``, for each of ``GROUPS``."""
    ahead = epochs_of(dict(list(split("train").items())[::EVERY]))
    updates = sum(map(len, ahead))
    seed_everything(seed)
    model = build(attention, d_hidden)
    fit(
        model,
        ahead.__getitem__,
        teacher_forced_loss,
        epochs=len(ahead),
        rate=lambda step: one_cycle_rate(step, updates, PEAK),
        progress=progress,
    )
    same = dict(zip(RUN, (int(attention), d_hidden, seed), strict=True))
    same |= {"parameters": count_parameters(model), "updates": updates}
    return [same | row for row in counts_by_length(model, split("valid"))]


def runs(_table: Path) -> Iterator[Run]:
    """One run for each width, with attention and without, and seed."""
    for seed in SEEDS:
        for attended, plain in WIDTHS.items():
            for attention, d_hidden in ((1, attended), (0, plain)):
                wanted = dict(zip(RUN, (attention, d_hidden, seed), strict=True))
                yield wanted, partial(run, bool(attention), d_hidden, seed)
