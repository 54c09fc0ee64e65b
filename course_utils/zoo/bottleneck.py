"""Recurrent models of several sizes with and without attention, by word length: ``python -m course_utils.zoo bottleneck``.

All are trained alike: the same words, batches and number of updates, five seeds. A model without attention gets the width at
which it has as many parameters as its partner with attention. The counts are appended to
``course_utils/zoo/data/bottleneck.csv``, one line for each run and group of lengths; a run that is there is not made again.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import torch
from torch import nn

from ..datasets.batches import Batch, batches_by_length, encode_pairs
from ..datasets.pronunciations import Pronunciation, split
from ..metrics import edit_distance
from ..models import count_parameters
from ..models.recurrent import RecurrentSeq2Seq
from ..training import fit, one_cycle_rate, seed_everything, teacher_forced_loss
from . import shipped
from .pronunciation import SOUNDS, SPELLING, pronounce
from .runs import make_missing, read_rows

TABLE = shipped.FOLDER / "bottleneck.csv"
WIDTHS = {16: 17, 32: 34, 64: 69, 128: 138}  # d_hidden with attention: d_hidden without, of nearly as many parameters
SEEDS = (0, 1, 2, 3, 4)
EVERY, EPOCHS, SYMBOLS, PEAK = 6, 5, 2500, 0.01  # every sixth word of train; symbols in a batch; largest learning rate
GROUPS = ((1, 5), (6, 7), (8, 9), (10, 11), (12, 40))  # shortest and longest word
RUN = ("attention", "d_hidden", "seed")
FIELDS = (*RUN, "parameters", "updates", "shortest", "longest", "words", "wrong", "edits", "sounds")


def build(attention: bool, d_hidden: int) -> RecurrentSeq2Seq:
    """A fresh model of the experiment."""
    return RecurrentSeq2Seq(len(SPELLING), len(SOUNDS), attention=attention, d_embed=32, d_hidden=d_hidden)


def epochs_of(words: Mapping[str, Sequence[Pronunciation]], epochs: int = EPOCHS) -> list[list[Batch]]:
    """The batches of every epoch; the same for every model."""
    pairs = encode_pairs(words, SPELLING, SOUNDS)
    return [list(batches_by_length(pairs, SYMBOLS, seed=epoch)) for epoch in range(epochs)]


def counts_by_length(
    model: nn.Module, words: Mapping[str, Sequence[Pronunciation]], groups: Iterable[tuple[int, int]] = GROUPS
) -> list[dict[str, int]]:
    """Words, wrong words, edits to the nearest pronunciation and its sounds, of the words in each group of lengths."""
    said = dict(zip(words, pronounce(model, list(words)), strict=True))
    found = []
    for shortest, longest in groups:
        row = {"shortest": shortest, "longest": longest, "words": 0, "wrong": 0, "edits": 0, "sounds": 0}
        for word in (word for word in words if shortest <= len(word) <= longest):
            edits, sounds = min(
                ((edit_distance(said[word], right), len(right)) for right in words[word]), key=lambda pair: pair[0]
            )
            for name, count in (("words", 1), ("wrong", edits > 0), ("edits", edits), ("sounds", sounds)):
                row[name] += count
        found.append(row)
    return found


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


def read_table(path: Path = TABLE) -> list[dict[str, int]]:
    """The runs made so far; empty where there are none."""
    return [{name: int(value) for name, value in row.items()} for row in read_rows(path)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.zoo bottleneck", description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, default=TABLE, help=f"file of the counts (default: {TABLE.name})")
    parser.add_argument("--threads", type=int, help="CPU threads (default: PyTorch's choice)")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    for seed in SEEDS:
        for attended, plain in WIDTHS.items():
            for attention, d_hidden in ((1, attended), (0, plain)):
                wanted = {"attention": attention, "d_hidden": d_hidden, "seed": seed}
                make_missing(options.table, FIELDS, wanted, partial(run, bool(attention), d_hidden, seed))
    return 0
