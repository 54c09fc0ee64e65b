"""Recurrent models with four kinds of context, attention among them, small enough to train while you read (lesson 03).

``experiments/bottleneck.py`` trains them in four sizes from five seeds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from ..datasets.batches import Batch, batches_by_length, encode_pairs
from ..datasets.pronunciations import Pronunciation
from ..metrics import edit_distance
from ..models.recurrent import RecurrentSeq2Seq, RecurrentState
from ..pretrained.pronunciation import SOUNDS, SPELLING, pronounce

EVERY, EPOCHS, SYMBOLS, PEAK = 6, 5, 2500, 0.01  # every sixth word of train; symbols in a batch; largest learning rate
CONTEXTS = ("attention", "summary", "pointer", "mean")
GROUPS = ((1, 5), (6, 7), (8, 9), (10, 11), (12, 40))  # shortest and longest word


class FixedLook(RecurrentSeq2Seq):
    """A decoder that gets a mixture of the encoder's states, like one with attention, but asks for nothing: no query, no score.

    ``pointer`` takes the first state at the first step, the second at the second, and so on, and stays at the last letter;
    ``mean`` takes all states of real letters alike, at every step.
    """

    def __init__(self, look: str, src_vocab: int, tgt_vocab: int, **sizes: int) -> None:
        if look not in ("pointer", "mean"):
            raise ValueError(f"look ({look!r}) must be 'pointer' or 'mean'")
        super().__init__(src_vocab, tgt_vocab, attention=False, **sizes)
        self.look = look

    def fixed_weights(self, state: RecurrentState) -> Float[Tensor, "B L_s"]:
        """The weights of the next step, which depend on nothing but the lengths and on how many steps were made."""
        real = state.encoded.mask[:, 0].float()  # (B, L_s)
        if self.look == "mean":
            return real / real.sum(1, keepdim=True)
        last = real.sum(1).long() - 1  # (B,)
        place = torch.zeros_like(last) if state.weights is None else state.weights.argmax(1) + 1  # (B,)
        return F.one_hot(torch.minimum(place, last), real.shape[1]).float()

    def _step(self, state: RecurrentState, embedded: Tensor) -> tuple[Tensor, RecurrentState]:
        weights = self.fixed_weights(state)  # (B, L_s)
        context = (weights[:, None] @ state.encoded.states)[:, 0]  # (B, 2 d_hidden)
        told = replace(state, encoded=state.encoded._replace(summary=context))  # the context takes the summary's place
        joined, after = super()._step(told, embedded)
        return joined, replace(after, encoded=state.encoded, weights=weights)


def with_context(context: str, src_vocab: int, tgt_vocab: int, **sizes: int) -> RecurrentSeq2Seq:
    """A fresh model whose decoder reads one of ``CONTEXTS``."""
    if context in ("attention", "summary"):
        return RecurrentSeq2Seq(src_vocab, tgt_vocab, attention=context == "attention", **sizes)
    return FixedLook(context, src_vocab, tgt_vocab, **sizes)


def build(context: str, d_hidden: int) -> RecurrentSeq2Seq:
    """A fresh model of the experiment, whose decoder reads one of ``CONTEXTS``."""
    return with_context(context, len(SPELLING), len(SOUNDS), d_embed=32, d_hidden=d_hidden)


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
