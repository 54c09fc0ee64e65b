"""Recurrent models of several sizes and four kinds of context, by word length: ``python -m experiments bottleneck``.

All are trained alike: the same words, batches and number of updates, five seeds. The decoder's context is made by attention, or
is the encoder's summary, the state at a pointer that moves one letter a step, or the mean of all states. A model without
attention gets the width at which it has as many parameters as its partner with attention. The table holds the counts, one line
for each run and group of lengths.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from course_utils.datasets.pronunciations import split
from course_utils.models import count_parameters
from course_utils.small_models.bottleneck import CONTEXTS, EVERY, PEAK, build, counts_by_length, epochs_of
from course_utils.training import fit, one_cycle_rate, seed_everything, teacher_forced_loss

from .runs import Run

WIDTHS = {16: 17, 32: 34, 64: 69, 128: 138}  # d_hidden with attention: without, of nearly as many parameters
SEEDS = (0, 1, 2, 3, 4)
LARGEST, FEWER = 138, (0, 1)  # width at which pointer and mean take long: these seeds only
RUN = ("context", "d_hidden", "seed")
FIELDS = (*RUN, "parameters", "updates", "shortest", "longest", "words", "wrong", "edits", "sounds")


def run(context: str, d_hidden: int, seed: int, *, progress: bool = True) -> list[dict[str, int | str]]:
    """Train one model and count its errors on the words for validation: one row, of ``FIELDS``, for each of ``GROUPS``."""
    ahead = epochs_of(dict(list(split("train").items())[::EVERY]))
    updates = sum(map(len, ahead))
    seed_everything(seed)
    model = build(context, d_hidden)
    fit(
        model,
        ahead.__getitem__,
        teacher_forced_loss,
        epochs=len(ahead),
        rate=lambda step: one_cycle_rate(step, updates, PEAK),
        progress=progress,
    )
    same: dict[str, int | str] = dict(zip(RUN, (context, d_hidden, seed), strict=True))
    same |= {"parameters": count_parameters(model), "updates": updates}
    return [same | row for row in counts_by_length(model, split("valid"))]


def runs(_table: Path) -> Iterator[Run]:
    """One run for each context, width and seed."""
    for seed in SEEDS:
        for attended, plain in WIDTHS.items():
            for context in CONTEXTS:
                d_hidden = attended if context == "attention" else plain
                if context in ("pointer", "mean") and d_hidden == LARGEST and seed not in FEWER:
                    continue
                wanted = dict(zip(RUN, (context, d_hidden, seed), strict=True))
                yield wanted, partial(run, context, d_hidden, seed)
