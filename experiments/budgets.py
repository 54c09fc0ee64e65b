"""Does the order of GRU and Transformer hold for longer? ``python -m experiments budgets``.

Two models of ``comparison``, on the same words, trained for 9 and for 27 epochs in place of 3, each with a schedule as long as
the training. Seed 0 runs for 9 epochs with the largest learning rate that ``comparison`` chose, and with half of it; all other
runs have the one that was better on the words for the sweep. The table has one line a run:

``epochs``, ``variant``, ``rate``, ``seed``
    What was run.
``updates``, ``loss``
    Updates done; mean training loss of the last epoch, in nats for each sound, labels smoothed.
``sweep_loss``, ``valid_loss``
    Mean loss on the words that choose the rate, and on those that judge, the true sounds before each being given.
``WER``, ``PER``
    Error rates on the words that judge, in percent, decoded greedily.
``seconds``
    Training, in seconds of processor time of one thread.
``right``
    Which of these words were right: see ``comparison.which_right``.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from course_utils.datasets.batches import batches_by_length, encode_pairs
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING
from course_utils.results import read_rows, rows_of
from course_utils.training import seed_everything

from .comparison import SYMBOLS, VARIANTS, best_rate, fitted, judged, train_words
from .runs import Run

EPOCHS = (9, 27)
LATER = ((27, 0), (9, 1), (9, 2), (27, 1))  # epochs and seed
MODELS = ("GRU, Adam", "Transformer, Muon")
RUN = ("epochs", "variant", "rate", "seed")
FIELDS = (*RUN, "updates", "loss", "sweep_loss", "valid_loss", "WER", "PER", "seconds", "right")


def run(epochs: int, variant: str, rate: float, seed: int, *, progress: bool = False) -> list[dict[str, Any]]:
    """Train one model: one row of ``FIELDS``."""
    build, muon = VARIANTS[variant]
    pairs = encode_pairs(train_words(), SPELLING, SOUNDS)
    ahead = [list(batches_by_length(pairs, SYMBOLS, seed=100 * seed + epoch)) for epoch in range(epochs)]
    seed_everything(seed)
    model, started = build(), time.process_time()
    history = fitted(model, ahead, rate, muon, progress=progress)
    seconds = round(time.process_time() - started, 1)
    with torch.no_grad():
        sweep_loss, *_ = judged(model, "sweep")
        valid_loss, wer, per, right = judged(model, "run")
    values = (sum(map(len, ahead)), round(history.losses[-1], 4), sweep_loss, valid_loss, wer, per, seconds, right)
    return [dict(zip(FIELDS, (epochs, variant, rate, seed, *values), strict=True))]


def chosen_rate(variant: str, rows: Sequence[Mapping[str, str]]) -> float:
    """The rate whose shortest run from seed 0 had the lowest loss on the words for the sweep."""
    wanted = (str(EPOCHS[0]), variant, "0")
    first = [row for row in rows if (row["epochs"], row["variant"], row["seed"]) == wanted]
    if not first:
        raise ValueError(f"the table holds no run of variant ({variant!r}) for {EPOCHS[0]} epochs from seed 0")
    return float(min(first, key=lambda row: float(row["sweep_loss"]))["rate"])


def runs(table: Path) -> Iterator[Run]:
    """The shortest runs of seed 0 with two rates, then all others with the better one; one thread for all."""
    torch.set_num_threads(1)
    sweep = read_rows("comparison")
    for variant in MODELS:
        for part in (1.0, 0.5):
            yield _run(EPOCHS[0], variant, part * best_rate(variant, sweep), 0)
    for epochs, seed in LATER:
        for variant in MODELS:
            yield _run(epochs, variant, chosen_rate(variant, rows_of(table)), seed)


def _run(*setting: Any) -> Run:
    return dict(zip(RUN, setting, strict=True)), partial(run, *setting)
