"""Batches of pairs of unequal length: similar lengths together, so that little of a batch is padding.

Shape letters: ``B`` batch, ``L_s`` length of the longest source, ``L_t`` of the longest target.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from jaxtyping import Int
from torch import Tensor

from ..tokenizers import Tokenizer, pad


class Batch(NamedTuple):
    """Padded pairs: ids of the source, and of the target between start and end symbol."""

    source: Int[Tensor, "B L_s"]
    target: Int[Tensor, "B L_t"]


Pair = tuple[list[int], list[int]]


def encode_pairs(words: Mapping[str, Sequence[Sequence[str]]], source: Tokenizer, target: Tokenizer) -> list[Pair]:
    """Every word with each of its pronunciations as ids; the target stands between start and end symbol.

    ``source`` is the tokenizer of the letters, ``target`` that of the phonemes.
    """
    return [
        (source.encode(word), target.encode(sounds, start=True, end=True))
        for word, accepted in words.items()
        for sounds in accepted
    ]


def batches_by_length(pairs: Sequence[Pair], symbols_per_batch: int, *, seed: int) -> Iterator[Batch]:
    """Shuffled batches whose pairs have similar lengths; every pair is in exactly one.

    The pairs are shuffled and sorted by length (which keeps the shuffled order among equals), cut into batches, and the
    batches shuffled. The same seed gives the same batches.

    Args:
        symbols_per_batch: Most symbols in a batch's source and target together, padding included; at least the longest
            pair's.
        seed: Of the shuffling: pass the epoch's number (plus a constant) for another order every epoch.
    """
    if not pairs:
        raise ValueError("pairs is empty; expected at least one")
    longest = max(len(s) + len(t) for s, t in pairs)
    if longest > symbols_per_batch:
        raise ValueError(f"symbols_per_batch ({symbols_per_batch}) is below the longest pair's length ({longest})")
    order = list(pairs)
    rng = random.Random(seed)
    rng.shuffle(order)
    order.sort(key=lambda pair: (len(pair[0]), len(pair[1])))
    groups: list[list[Pair]] = []
    source = target = 0
    for pair in order:
        source, target = max(source, len(pair[0])), max(target, len(pair[1]))
        if not groups or (source + target) * (len(groups[-1]) + 1) > symbols_per_batch:
            groups.append([])
            source, target = len(pair[0]), len(pair[1])
        groups[-1].append(pair)
    rng.shuffle(groups)
    for group in groups:
        yield Batch(pad([s for s, _ in group]), pad([t for _, t in group]))


def share_of_padding(batch: Int[Tensor, "B L"], pad_id: int = 0) -> float:
    """How much of a batch of ids is padding, between 0 and 1."""
    return (batch == pad_id).float().mean().item()


def source_batches(sequences: Sequence[Sequence[int]], size: int) -> Iterator[tuple[list[int], Int[Tensor, "B L_s"]]]:
    """Sources alone, for decoding: sorted by length, ``size`` at a time.

    Each comes with the places of its sources in ``sequences``: ``(places, source)``.
    """
    if size < 1:
        raise ValueError(f"size ({size}) must be at least 1")
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))
    for start in range(0, len(order), size):
        places = order[start : start + size]
        yield places, pad([sequences[i] for i in places])
