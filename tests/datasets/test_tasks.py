"""Synthetic tasks."""

import pytest
import torch

from course_utils.datasets.tasks import copy_task


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_the_target_is_the_source_between_start_and_end():
    source, target = copy_task(200, 10, 11, generator())
    assert source.shape == (200, 10) and target.shape == (200, 12)
    assert torch.equal(target[:, 1:-1], source) and (target[:, 0] == 1).all() and (target[:, -1] == 2).all()
    counts = torch.bincount(source.flatten(), minlength=11)
    assert counts[:3].sum() == 0 and (counts[3:] > 200).all()
    assert not torch.equal(source, copy_task(200, 10, 11, generator(1))[0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((0, 7, 11), "num .0."), ((5, 0, 11), "length .0."), ((5, 7, 3), "vocab_size .3. must be at least 4")],
)
def test_bad_input_is_named(as_a_user, arguments, words):
    with pytest.raises(ValueError, match=words):
        copy_task(*arguments, generator())
