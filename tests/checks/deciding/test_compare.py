"""Differences: each kind found, each said in words, equal things left alone."""

import math

import numpy as np
import pytest
import torch

from course_checks.deciding.compare import describe, difference
from course_checks.running.encode import encode

T = torch.arange(6.0).view(2, 3)
ONE_OFF = T + torch.tensor([[0, 0, 0], [0, 1.0, 0]])
ODD = torch.tensor([math.nan, math.inf])


def compared(expected, actual, names=("weights",), rtol=1e-4, atol=1e-5):
    return difference(encode(expected), encode(actual), names, rtol, atol)


def test_equal_enough():
    for expected, actual in (
        (T, T + 1e-6),
        (torch.nn.Parameter(T), T),
        (ODD, ODD.clone()),
        ({"a": T}, {"a": T.clone()}),
    ):
        assert compared(expected, actual) is None
    for expected, actual in ((torch.tensor(14.0), 14), (14.0, torch.tensor(14.0).double()), (0.5, np.float32(0.5))):
        assert compared(expected, actual) is None
    assert compared([1, 2], (1, 2)) is None and compared("x", "x") is None


@pytest.mark.parametrize(
    ("expected", "actual", "sentence"),
    [
        (T, T.T, "weights: the shape differs: yours (3, 2), expected (2, 3)"),
        (T, T.double(), "weights: the dtype differs: yours float64, expected float32"),
        (T, T.numpy(), "weights: you returned a numpy array of shape (2, 3), expected a tensor of shape (2, 3); make"),
        (T, None, "weights: you returned None (is the return line missing?), expected a tensor"),
        (T, ONE_OFF, "17 % of the values differ; first at [1, 1]: yours 5, expected 4"),
        (T, T / 0, "NaN in 1 of 6 values; first difference at [0, 0]: yours nan, expected 0"),
        (T, T.tolist(), "weights: you returned a list of 2, expected a tensor of shape (2, 3); torch.tensor"),
        (T, T.to_sparse(), "cannot be read"),
        (2.0, 3.0, "weights: the value differs: yours 3, expected 2"),
        (2.0, 2.00049, "weights: the value differs: yours 2.0005, expected 2"),
        (2, 2**70, "weights: the value differs"),
        (2.0, 10**400, "weights: the value differs"),
        ("a", "b", "weights: the value differs: yours 'b', expected 'a'"),
        (True, False, "weights: the value differs: yours False, expected True"),
        (True, "yes", "you returned the str 'yes', expected a number"),
        ([1, 2], [1, 3], "weights[1]: the value differs: yours 3, expected 2"),
        ([1, 2], [1], "weights: it has 1 items, expected 2"),
        ([1, 2], 5, "weights: you returned the int 5, expected a list of 2"),
        ({"a": 1}, {"b": 1}, "weights: the keys differ: yours 'b', expected 'a'"),
        ({"a": 1}, {"a": 2}, "weights['a']: the value differs"),
    ],
)
def test_differences_in_words(expected, actual, sentence):
    assert sentence in compared(expected, actual).sentence()


def test_parts_are_compared_by_name():
    names = ("output", "weights")
    assert compared((T, T), [T, T], names) is None
    assert compared((T, T), (T, T + 1), names).where == "weights"
    assert "3 parts; expected 2: output, weights" in compared((T, T), (T, T, T), names).sentence()
    assert "a tensor of shape (2, 3); expected 2 parts" in compared((T, T), T, names).sentence()
    # two mistakes may return equally wrong numbers of parts
    assert compared((T, T, T), (T, T, T), names) is None and compared((T, T, T), (T, T, T + 1), names) is not None


def test_the_right_value_can_be_kept_back():
    sentence = compared(T, T + 1).sentence(show_expected=False)
    assert "yours 1" in sentence and "expected" not in sentence


def test_tolerance_is_the_exercises_own_but_tight_on_float64_and_wide_on_half_precision():
    assert compared(T, T + 1e-3) is not None and compared(T, T + 1e-3, atol=1e-2) is None
    assert compared(T.double(), T.double() + 1e-7) is not None
    for dtype, near, far in ((torch.float16, 1e-3, 4e-3), (torch.bfloat16, 8e-3, 4e-2)):
        ones = torch.ones(2, 3, dtype=dtype)
        assert compared(ones, ones + near) is None and compared(ones, ones + far) is not None


def test_every_kind_has_words():
    for value in (T, T.numpy(), None, [1], (1,), {}, 3, 2.5, "s", object()):
        assert describe(encode(value))
