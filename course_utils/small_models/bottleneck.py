"""Recurrent models with and without attention, small enough to train while you read (lesson 03).

``experiments/bottleneck.py`` trains them in four sizes from five seeds.
"""

from collections.abc import Iterable, Mapping, Sequence

from torch import nn

from ..datasets.batches import Batch, batches_by_length, encode_pairs
from ..datasets.pronunciations import Pronunciation
from ..metrics import edit_distance
from ..models.recurrent import RecurrentSeq2Seq
from ..pretrained.pronunciation import SOUNDS, SPELLING, pronounce

EVERY, EPOCHS, SYMBOLS, PEAK = 6, 5, 2500, 0.01  # every sixth word of train; symbols in a batch; largest learning rate


GROUPS = ((1, 5), (6, 7), (8, 9), (10, 11), (12, 40))  # shortest and longest word


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
    outputs = dict(zip(words, pronounce(model, list(words)), strict=True))
    counts = []
    for shortest, longest in groups:
        row = {"shortest": shortest, "longest": longest, "words": 0, "wrong": 0, "edits": 0, "sounds": 0}
        for word in (word for word in words if shortest <= len(word) <= longest):
            edits, sounds = min(
                ((edit_distance(outputs[word], right), len(right)) for right in words[word]), key=lambda pair: pair[0]
            )
            for name, count in (("words", 1), ("wrong", edits > 0), ("edits", edits), ("sounds", sounds)):
                row[name] += count
        counts.append(row)
    return counts
