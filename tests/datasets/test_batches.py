"""Batching by length, and the copy task."""

import random

import pytest
import torch

from course_utils.datasets.batches import batches_by_length, encode_pairs, share_of_padding, source_batches
from course_utils.datasets.tasks import copy_task
from course_utils.tokenizers import Tokenizer


def some_pairs(num=300):
    rng = random.Random(0)
    return [([3] * rng.randint(1, 12), [4 + i % 5] * rng.randint(3, 14)) for i in range(num)]


def rows(batches):
    pairs = []
    for source, target in batches:
        for s, t in zip(source.tolist(), target.tolist(), strict=True):
            pairs.append(([i for i in s if i], [i for i in t if i]))
    return pairs


def test_every_pair_once_and_no_batch_too_large():
    pairs = some_pairs()
    batches = list(batches_by_length(pairs, 100, seed=0))
    assert sorted(rows(batches)) == sorted(pairs)
    assert all(source.numel() + target.numel() <= 100 for source, target in batches)
    assert len(batches) < 90  # not one pair a batch


def test_less_padding_than_without_sorting():
    pairs = some_pairs()
    source, _ = zip(*[(share_of_padding(s), t) for s, t in batches_by_length(pairs, 200, seed=0)], strict=True)
    longest = max(len(s) for s, _ in pairs)
    unsorted = 1 - sum(len(s) for s, _ in pairs) / (longest * len(pairs))
    assert sum(source) / len(source) < unsorted / 5


def test_seeds():
    pairs = some_pairs()
    first, again, other = (rows(batches_by_length(pairs, 100, seed=seed)) for seed in (0, 0, 1))
    assert first == again != other and sorted(first) == sorted(other)
    assert pairs == some_pairs()  # the caller's list is left as it was


def test_pairs_of_words():
    letters, sounds = Tokenizer("abc"), Tokenizer(["X", "Y"])
    pairs = encode_pairs({"ab": (("X",), ("Y", "X")), "c": (("Y",),)}, letters, sounds)
    assert pairs == [([3, 4], [1, 3, 2]), ([3, 4], [1, 4, 3, 2]), ([5], [1, 4, 2])]


def test_sources_alone():
    sequences = [[3] * n for n in (4, 1, 9, 2, 4)]
    pairs = list(source_batches(sequences, 2))
    assert [places for places, _ in pairs] == [[1, 3], [0, 4], [2]]
    assert [tuple(source.shape) for _, source in pairs] == [(2, 2), (2, 4), (1, 9)]


def copied(num=200, length=10, vocab_size=11, seed=0):
    return copy_task(num, length, vocab_size, torch.Generator().manual_seed(seed))


def test_of_the_copy_task_the_target_is_the_source_between_start_and_end():
    source, target = copied()
    assert source.shape == (200, 10) and target.shape == (200, 12)
    assert torch.equal(target[:, 1:-1], source) and (target[:, 0] == 1).all() and (target[:, -1] == 2).all()
    counts = torch.bincount(source.flatten(), minlength=11)
    assert counts[:3].sum() == 0 and (counts[3:] > 200).all()
    assert not torch.equal(source, copied(seed=1)[0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: next(batches_by_length([], 10, seed=0)), "pairs is empty"),
        (lambda: next(batches_by_length([([3] * 6, [4] * 6)], 10, seed=0)), r"symbols_per_batch \(10\).*12"),
        (lambda: next(source_batches([[3]], 0)), r"size \(0\)"),
        (lambda: copied(num=0), "num .0."),
        (lambda: copied(length=0), "length .0."),
        (lambda: copied(vocab_size=3), "vocab_size .3. must be at least 4"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()
