"""Strings written twice: what they are made of, and what a letter of the second half costs."""

import math

import pytest
import torch
from torch import nn

from course_utils.datasets.written_twice import second_half_bits, second_half_loss, spelled, twice


def test_a_string_has_different_letters_and_comes_twice():
    ids = twice(5, 7, torch.Generator().manual_seed(0))
    assert ids.shape == (5, 14) and torch.equal(ids[:, :7], ids[:, 7:])
    assert all(len(set(row.tolist())) == 7 for row in ids)
    assert len({tuple(row.tolist()) for row in ids}) == 5
    assert sorted(twice(1, 26, torch.Generator().manual_seed(0))[0, :26].tolist()) == list(range(26))


@pytest.mark.parametrize("length", [0, 27])
def test_a_length_without_such_strings_is_refused(length):
    with pytest.raises(ValueError, match=rf"length \({length}\) must be 1 to 26"):
        twice(1, length, torch.Generator())


def test_ids_are_spelled():
    assert spelled(torch.tensor([7, 8, 25])) == "hiz"


class Answers(nn.Module):
    """Gives every letter of the second half but its first ``chance``, and the rest to the others alike."""

    def __init__(self, chance: float, first: float = 0.5):
        super().__init__()
        self.chance, self.first = chance, first

    def forward(self, ids):
        half, logits = ids.shape[1] // 2, torch.zeros(*ids.shape, 26)
        for place in range(ids.shape[1] - 1):
            chance = self.chance if place >= half else self.first
            rest = math.log((1 - chance) / 25)
            logits[:, place] = rest
            logits[torch.arange(len(ids)), place, ids[:, place + 1]] = math.log(chance)
        return logits


def test_only_letters_that_can_be_known_cost():
    ids = twice(3, 5, torch.Generator().manual_seed(0))
    for first in (0.1, 0.9):  # makes no difference
        assert second_half_bits(Answers(0.25, first), ids) == pytest.approx(2.0, abs=1e-5)
    assert second_half_loss(Answers(0.25), ids).item() == pytest.approx(2 * math.log(2), abs=1e-5)
