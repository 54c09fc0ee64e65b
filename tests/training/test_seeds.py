"""Seeds: the same numbers again."""

import random

import torch

from course_utils.training import seed_everything


def test_seed():
    seed_everything(3)
    first = random.random(), torch.rand(2).tolist()
    seed_everything(3)
    assert first == (random.random(), torch.rand(2).tolist())
