"""Synthetic tasks."""

import pytest
import torch

from course_utils.datasets.tasks import copy_task, random_sequences, reverse_task


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_copy_and_reverse():
    source, target = copy_task(5, 7, 11, generator())
    assert source.shape == (5, 7) and target.shape == (5, 9)
    assert torch.equal(target[:, 1:-1], source) and (target[:, 0] == 1).all() and (target[:, -1] == 2).all()
    again, backwards = reverse_task(5, 7, 11, generator())
    assert torch.equal(again, source) and torch.equal(backwards[:, 1:-1], source.flip(1))


def test_every_symbol_occurs_and_no_special_one():
    symbols = random_sequences(200, 10, 11, generator())
    counts = torch.bincount(symbols.flatten(), minlength=11)
    assert counts[:3].sum() == 0 and (counts[3:] > 200).all()
    assert not torch.equal(symbols, random_sequences(200, 10, 11, generator(1)))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((0, 7, 11), "num .0."), ((5, 0, 11), "length .0."), ((5, 7, 3), "vocab_size .3. must be at least 4")],
)
def test_bad_input_is_named(as_a_user, arguments, words):
    with pytest.raises(ValueError, match=words):
        copy_task(*arguments, generator())
