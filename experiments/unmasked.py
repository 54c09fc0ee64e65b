"""Is it the padding that a model without a padding mask stumbles over? ``python -m experiments unmasked``.

The variant ``no padding mask`` of ``ablation``, trained as there, says the words for validation twice: in batches where short
words are padded, and words of one length at a time, so that no padding is there to be seen. The table has one line a seed.

``padded_WER``, ``alone_WER``
    Word error rates of all these words in percent, in padded batches and one length at a time.
``minutes``
    Training.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from course_utils.datasets.pronunciations import split
from course_utils.metrics import word_error_rate
from course_utils.pretrained.pronunciation import pronounce

from .ablation import EPOCHS, VARIANTS
from .comparison import say
from .recipes import PronunciationRecipe
from .runs import Run
from .train import fit_by

SEEDS = (0, 1, 2)
FIELDS = ("seed", "padded_WER", "alone_WER", "minutes")


def run(seed: int, *, epochs: int = EPOCHS, progress: bool = False) -> list[dict[str, Any]]:
    """Train one model and judge it in both ways: one row of ``FIELDS``."""
    build = VARIANTS["no padding mask"]
    recipe = PronunciationRecipe(build, {}, epochs=epochs, peak_rate=4e-3, rise=0.1, muon=True, seed=seed)
    model, history = fit_by(recipe, judged=False, progress=progress)
    valid = split("valid")
    accepted = list(valid.values())
    both = pronounce(model, list(valid)), say(model, valid)
    rates = (round(100 * word_error_rate(said, accepted), 2) for said in both)
    return [dict(zip(FIELDS, (seed, *rates, round(history.seconds[-1] / 60, 1)), strict=True))]


def runs(_table: Path) -> Iterator[Run]:
    """One run for each seed."""
    for seed in SEEDS:
        yield {"seed": seed}, partial(run, seed)
