"""Differences: each kind found, each said in words, equal things left alone."""

import numpy as np
import pytest
import torch

from course_utils.checks.judges.compare import describe, difference
from course_utils.checks.probes.codec import encode

T = torch.arange(6.0).view(2, 3)


def found(expected, actual, names=("weights",), **tolerance):
    tolerance = {"rtol": 1e-4, "atol": 1e-5} | tolerance
    return difference(encode(expected), encode(actual), names, **tolerance)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (T, T + 1e-6),
        (torch.tensor(14.0), 14),
        (torch.tensor(14.0), 14.0),
        (14.0, torch.tensor(14.0, dtype=torch.float64)),
        (0.5, np.float32(0.5)),
        ([1, 2], (1, 2)),
        ({"a": T}, {"a": T.clone()}),
        (torch.tensor([float("nan"), float("inf")]), torch.tensor([float("nan"), float("inf")])),
        (torch.nn.Parameter(T), T),
        ("x", "x"),
    ],
)
def test_equal_enough(expected, actual):
    assert found(expected, actual) is None


@pytest.mark.parametrize(
    ("expected", "actual", "sentence"),
    [
        (T, T.T, "weights: the shape differs: yours (3, 2), expected (2, 3)"),
        (T, T.double(), "weights: the dtype differs: yours float64, expected float32"),
        (T, T.numpy(), "weights: you returned a numpy array of shape (2, 3), expected a tensor of shape (2, 3); make"),
        (T, None, "weights: you returned None (is the return line missing?), expected a tensor"),
        (
            T,
            T + torch.tensor([[0, 0, 0], [0, 1.0, 0]]),
            "17 % of the values differ; first at [1, 1]: yours 5, expected 4",
        ),
        (T, T / 0, "NaN in"),
        (2.0, 3.0, "weights: the value differs: yours 3, expected 2"),
        (2.0, 2.00049, "weights: the value differs: yours 2.0005, expected 2"),
        (T, T.tolist(), "weights: you returned a list of 2, expected a tensor of shape (2, 3); torch.tensor"),
        (2, 2**70, "weights: the value differs"),
        (2.0, 10**400, "weights: the value differs"),
        ("a", "b", "weights: the value differs: yours 'b', expected 'a'"),
        (True, False, "weights: the value differs: yours False, expected True"),
        ([1, 2], [1, 3], "weights[1]: the value differs: yours 3, expected 2"),
        ([1, 2], [1], "weights: it has 1 items, expected 2"),
        ([1, 2], 5, "weights: you returned the int 5, expected a list of 2"),
        ({"a": 1}, {"b": 1}, "the keys differ"),
        ({"a": 1}, {"a": 2}, "the value differs"),
        (T, T.to_sparse(), "cannot be read"),
        (True, "yes", "you returned the str 'yes', expected a number"),
    ],
)
def test_differences_are_said(expected, actual, sentence):
    assert sentence in found(expected, actual).sentence()


def test_parts_are_compared_by_name():
    assert found((T, T), [T, T], ("output", "weights")) is None
    assert found((T, T), (T, T + 1), ("output", "weights")).where == "weights"
    assert "3 parts; expected 2: output, weights" in found((T, T), (T, T, T), ("output", "weights")).sentence()
    assert "a tensor of shape (2, 3); expected 2 parts" in found((T, T), T, ("output", "weights")).sentence()


def test_the_right_value_can_be_kept_back():
    sentence = found(T, T + 1).sentence(show_expected=False)
    assert "yours 1" in sentence and "expected" not in sentence


def test_tolerance_is_the_exercises_own():
    assert found(T, T + 1e-3) is not None
    assert found(T, T + 1e-3, atol=1e-2) is None


def test_half_precision_is_compared_within_its_precision():
    for dtype, near, far in ((torch.float16, 1e-3, 4e-3), (torch.bfloat16, 8e-3, 4e-2)):
        ones = torch.ones(2, 3, dtype=dtype)
        assert found(ones, ones + near) is None
        assert found(ones, ones + far) is not None


def test_describe_names_every_kind():
    for value in (T, T.numpy(), None, [1], (1,), {}, 3, 2.5, "s", object()):
        assert describe(encode(value))


def test_two_equally_wrong_numbers_of_parts_can_be_compared():
    assert found((T, T, T), (T, T, T), ("output", "weights")) is None
    assert found((T, T, T), (T, T, T + 1), ("output", "weights")) is not None
