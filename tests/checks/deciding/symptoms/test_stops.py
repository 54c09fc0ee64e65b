"""Answers that raise."""

import pytest
import torch
from toy_exercises import diagnosis

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
        (lambda x: x @ x, "shapes do not fit", "In 1 other case of the check it came out right"),
        (lambda x: torch.einsum("ij,jk->il", x, x), "letters of an einsum", "the letters of your einsum don't fit"),
        (lambda x: torch.einsum("ij,kj->ik", x, x.mT), "one letter for two axes", "the letter j stands for two axes"),
        (lambda x: x.view(-1, x.shape[1] / 3), "a size with a fraction", "where a whole one is needed"),
        (lambda x: undefined, "stops with NameError", "a name is used"),  # noqa: F821
        (lambda x: x + 1 if x.shape[0] == 3 else {}["a"], "stops with KeyError", "came out right"),
        (lambda x: x + 1 if x.shape[0] == 3 else int("a"), "stops with ValueError", "every input that the task allows"),
    ],
)
def test_what_stops(answer, name, words):
    right = (lambda x: x @ x if len(x) == 3 else x + 1) if name == "shapes do not fit" else lambda x: x + 1
    found_by, found_name, sentence = diagnosis(right, answer, *CASES)
    assert (found_by, found_name) == ("symptom", name) and words in sentence
