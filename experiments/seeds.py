"""How much do the shipped models hang on the seed? ``python -m experiments seeds``.

The Transformer that pronounces and the language model, each trained by its own recipe from three seeds, with a tenth and a
sixth of its epochs and a schedule that is as short as the training. The table has one line a run:

``model``, ``epochs``, ``seed``
    What was trained. The seed sets the weights, the batches and the dropout.
``loss``
    Mean training loss of the last epoch, as the recipe counts it.
``valid``, ``test``
    Of the last weights: the word error rate in percent, decoded greedily, or bits a character, as the models' cards count them.
``minutes``
    Training, in minutes of processor time of one thread.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from course_utils.datasets.documentation import documentation_split
from course_utils.datasets.pronunciations import split
from course_utils.datasets.text_windows import encode_text
from course_utils.metrics import text_scores
from course_utils.models import DecoderLM
from course_utils.pretrained.evaluate import STRIDE, WINDOW
from course_utils.pretrained.pronunciation import error_rates

from .recipes import RECIPES
from .runs import Run
from .train import fit_by

EPOCHS = {"transformer": 3, "language_model": 1}
SEEDS = (0, 1, 2)
RUN = ("model", "epochs", "seed")
FIELDS = (*RUN, "loss", "valid", "test", "minutes")


def held_out(model: nn.Module, part: str) -> float:
    """The score of a model on a part of its data: bits a character, or percent of the words that it gets wrong."""
    if isinstance(model, DecoderLM):
        text = encode_text(getattr(documentation_split(), part))
        return round(text_scores(model, text, length=WINDOW, stride=STRIDE)["bits"], 4)
    return round(100 * error_rates(model, split(part))["WER"], 2)


def run(name: str, epochs: int, seed: int) -> list[dict[str, Any]]:
    """Train one model: one row of ``FIELDS``."""
    started = time.process_time()
    model, history = fit_by(replace(RECIPES[name], epochs=epochs, seed=seed), judged=False, progress=False)
    minutes = round((time.process_time() - started) / 60, 1)
    model.eval()
    scores = [held_out(model, part) for part in ("valid", "test")]
    return [dict(zip(FIELDS, (name, epochs, seed, round(history.losses[-1], 4), *scores, minutes), strict=True))]


def runs(table: Path) -> Iterator[Run]:
    """Each model from each seed; one thread for all."""
    torch.set_num_threads(1)
    for seed in SEEDS:
        for name, epochs in EPOCHS.items():
            yield dict(zip(RUN, (name, epochs, seed), strict=True)), partial(run, name, epochs, seed)
