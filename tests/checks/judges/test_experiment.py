"""Open experiments: the first claim that does not hold is told; what is no table of numbers breaks nothing."""

import numpy as np
import pytest
import torch

from course_utils.checks.catalogue import listed
from course_utils.checks.judges.experiment import Claim, Experiment, judge_experiment
from course_utils.checks.judges.kit.experiments import mean, said_of, table_of
from course_utils.checks.probes.codec import pack, unpack
from course_utils.checks.probes.observe import observe_value

GOOD = {(8, "root"): [0.9, 0.95, 0.92], (8, "none"): [0.5, 0.6, 0.55], "best": "root"}


def best(results):
    winner = max(("root", "none"), key=lambda scale: mean(results, (8, scale)))
    wrong = said_of(results, "best", ("root", "none"))
    return wrong or (None if results["best"] == winner else f"by your numbers {winner!r} is the best.")


EXPERIMENT = Experiment(
    answer="toy",
    example=lambda: dict(GOOD),
    claims=(
        Claim("all runs", table_of([(8, "root"), (8, "none")], 3, 0.0, 1.0), "run all."),
        Claim("best", best, "read off the larger mean."),
    ),
    listed=listed("1.1"),
)


def verdict(results):
    return judge_experiment(EXPERIMENT, unpack(*pack(observe_value(results))))


@pytest.mark.parametrize("turned", [list, tuple, torch.tensor, np.array], ids=["list", "tuple", "tensor", "array"])
def test_a_good_table_in_any_form(turned):
    assert verdict({key: turned(row) if isinstance(row, list) else row for key, row in GOOD.items()}).passed


@pytest.mark.parametrize(
    ("change", "mistake", "words"),
    [
        ({(8, "none"): [0.5, 0.6]}, "all runs", "holds 2 numbers where 3 runs"),
        ({(8, "none"): [0.5, 0.6, float("nan")]}, "all runs", "nan, which such a run cannot give"),
        ({(8, "none"): [0.5, 0.6, 7.0]}, "all runs", "holds 7, which"),
        ({(8, "none"): [0.5] * 3, (8, "root"): [0.9] * 3}, "all runs", "was the seed (or the sample) changed"),
        ({(8, "none"): GOOD[8, "root"]}, "all runs", "was anything changed"),
        ({(8, "none"): "many"}, "all runs", "not of the form"),
        ({(8, "none"): None}, "all runs", "not of the form"),
        ({"best": "none"}, "best", "'root' is the best"),
        ({"best": "both"}, "best", "'best' is 'both'; it must be one of"),
    ],
)
def test_the_first_claim_that_does_not_hold_is_told(change, mistake, words):
    said = verdict(GOOD | change)
    assert not said.passed and said.attempted and said.mistake == mistake and words in " ".join(said.text().split())


def test_what_is_missing_is_named():
    assert "'best'" in verdict({key: row for key, row in GOOD.items() if key != "best"}).text()
    assert "(8, 'none')" in verdict({(8, "root"): GOOD[8, "root"]}).text()


@pytest.mark.parametrize("answer", [None, {}, ...])
def test_nothing_measured_is_not_attempted(answer):
    assert not verdict(answer).attempted


@pytest.mark.parametrize("answer", [3, "root", [0.9], torch.ones(2), lambda: GOOD])
def test_anything_but_a_dict_is_told(answer):
    assert "as a dict" in verdict(answer).text()


def test_two_claims_of_one_name():
    with pytest.raises(ValueError, match="two claims are called best"):
        Experiment("toy", dict, (Claim("best", best, ""), Claim("best", best, "")))
