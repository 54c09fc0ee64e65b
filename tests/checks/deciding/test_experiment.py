"""Open experiments: the first claim that does not hold is told; what is no table of numbers breaks nothing."""

import math

import numpy as np
import pytest
import torch
from toy_exercises import ENTRY

from course_checks.deciding.experiment import Claim, Experiment, decide_experiment
from course_checks.deciding.results import mean, number, numbers, one_of, reads_off, table_of
from course_checks.running.encode import pack, unpack
from course_checks.running.observe import observe_value

GOOD = {(8, "root"): [0.9, 0.95, 0.92], (8, "none"): [0.5, 0.6, 0.55], "best": "root"}


def best(results):
    wrong = one_of(results, "best", ("root", "none"))
    winner = max(("root", "none"), key=lambda scale: mean(results, (8, scale)))
    return wrong or (None if results["best"] == winner else "another one is.")


ALL_RUNS = Claim("all runs", table_of([(8, "root"), (8, "none")], 3, 0.0, 1.0), "run all.")
EXPERIMENT = Experiment((ALL_RUNS, Claim("best", best, "read off the larger mean.")), ENTRY)


def verdict(results):
    return decide_experiment(EXPERIMENT, unpack(*pack(observe_value(results))))


@pytest.mark.parametrize("turned", [list, tuple, torch.tensor, np.array], ids=["list", "tuple", "tensor", "array"])
def test_a_good_table_in_any_form(turned):
    assert verdict({key: turned(row) if isinstance(row, list) else row for key, row in GOOD.items()}).passed


@pytest.mark.parametrize(
    ("change", "claim", "words"),
    [
        ({(8, "none"): [0.5, 0.6], "best": "none"}, ALL_RUNS, "holds 2 numbers where 3 runs"),
        ({(8, "none"): "many"}, ALL_RUNS, "some entries of toy are not of the form that the task names"),
        ({(8, "none"): None}, ALL_RUNS, "not of the form"),
        ({"best": "none"}, EXPERIMENT.claims[1], "another one is."),
    ],
)
def test_the_first_claim_that_does_not_hold_is_told(change, claim, words):
    decided = verdict(GOOD | change)
    assert not decided.passed and decided.attempted and words in decided.what
    assert (decided.mistake, decided.advice) == (claim.name, claim.advice)


@pytest.mark.parametrize("missing", GOOD, ids=str)
def test_what_is_missing_is_named(missing):
    assert verdict({key: row for key, row in GOOD.items() if key != missing}).what == f"toy[{missing!r}] is missing."


def test_nothing_measured_is_not_attempted_and_anything_but_a_dict_is_told():
    for answer in (None, {}, ...):
        assert not verdict(answer).attempted
    for answer in (3, "root", [0.9], torch.ones(2), lambda: GOOD):
        assert "as a dict" in verdict(answer).text()


def test_two_claims_of_one_name():
    with pytest.raises(ValueError, match="two claims are called all runs"):
        Experiment((ALL_RUNS, ALL_RUNS))


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
