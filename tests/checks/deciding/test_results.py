"""What open experiments share: numbers in any form, rows, readings."""

import math

import numpy as np
import pytest
import torch

from course_checks.deciding.results import mean, number, numbers, one_of, reads_off, table_of

TABLE = {"a": [0.2, 0.4], "b": [0.5, 0.7]}


@pytest.mark.parametrize("row", [[1, 2.0], (1, 2), torch.tensor([1, 2]), np.array([1.0, 2.0])])
def test_numbers_in_any_form(row):
    assert numbers(row) == [1.0, 2.0] and mean({"row": row}, "row") == 1.5


@pytest.mark.parametrize("row", ["12", 3, None, ["1"], [True], [[1, 2]], torch.ones(2, 2)])
def test_what_are_no_numbers(row):
    with pytest.raises(TypeError):
        numbers(row)


def test_one_number():
    assert number(torch.tensor([3])) == number(np.float32(3)) == number(3) == 3.0
    for value in (torch.ones(2), True, "3"):
        with pytest.raises(TypeError):
            number(value)


def test_rows_that_were_not_measured_apart():
    problem = table_of("ab", 2, 0.0, 1.0)
    assert problem(TABLE) is None
    assert "holds 1 number where 2 runs" in problem(TABLE | {"b": [0.5]})
    assert "entry 'b' are the same" in problem(TABLE | {"b": [0.5, 0.5]})
    assert problem(TABLE | {"b": [1.0, 1.0]}) is None  # at the limit every run may end
    assert "holds nan" in problem(TABLE | {"a": [0.2, math.nan]})
    assert "was anything changed" in problem(TABLE | {"b": TABLE["a"]})


def test_readings():
    ratio = reads_off("ratio", lambda table: mean(table, "b") / mean(table, "a"), "divide.", slack=0.1)
    assert (ratio.name, ratio.advice) == ("ratio", "divide.")
    assert ratio.problem(TABLE | {"ratio": 2.1}) is None
    assert ratio.problem(TABLE | {"ratio": 3}) == "entry 'ratio' is 3; by your own numbers it is another."
    assert one_of({"best": "b"}, "best", "ab") is None
    assert one_of({"best": "c"}, "best", "ab") == "entry 'best' is 'c'; it must be one of 'a', 'b'."
