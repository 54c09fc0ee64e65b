"""How much memory a computation takes."""

import time

import pytest
import torch

from course_utils.memory import peak_memory


def test_what_is_held_for_a_moment_is_seen():
    def large_for_a_moment():
        table = torch.ones(64, 1_000_000)  # 256 MB
        time.sleep(0.05)
        return float(table[0, 0])

    result, megabytes = peak_memory(large_for_a_moment)
    assert result == 1.0
    assert 200 < megabytes < 400


def test_little_is_little():
    assert peak_memory(lambda: torch.ones(1000).sum()).megabytes < 50


def test_an_error_comes_through():
    with pytest.raises(ZeroDivisionError):
        peak_memory(lambda: 1 / 0)
