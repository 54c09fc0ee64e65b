"""Answers that raise."""

import pytest
import torch
from toys import told

CASES = [{"x": torch.ones(2, 3)}, {"x": torch.ones(3, 3)}]


def empty_helper(x):
    raise NotImplementedError


def calls_it(x):
    return empty_helper(x) if x.shape[0] == 3 else x + 1


@pytest.mark.parametrize(
    ("answer", "name", "words"),
    [
        (calls_it, "calls an empty function", "stops inside empty_helper"),
        (lambda: 1, "other parameters", "its parameters are not those of the task"),
        (lambda x: x @ x, "shapes do not fit", "other 1 case of the check came out right"),
        (lambda x: undefined, "stops with NameError", "a name is used"),  # noqa: F821
        (lambda x: x + 1 if x.shape[0] == 3 else {}["a"], "stops with KeyError", "came out right"),
        (lambda x: x + 1 if x.shape[0] == 3 else int("a"), "stops with ValueError", "every input that the task allows"),
    ],
)
def test_what_stops(answer, name, words):
    reference = (lambda x: x @ x if len(x) == 3 else x + 1) if name == "shapes do not fit" else lambda x: x + 1
    layer, found, said = told(reference, answer, *CASES)
    assert (layer, found) == ("symptom", name) and words in said
