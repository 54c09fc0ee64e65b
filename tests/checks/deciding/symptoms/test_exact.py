"""What is right, moved or put through one operation more."""

import pytest
import torch
from toy_exercises import diagnosis

RNG = torch.Generator().manual_seed(0)
CASES = [{"x": torch.randn(2, 3, 4, generator=RNG)}, {"x": torch.randn(3, 5, 2, generator=RNG)}]
SQUARE = [{"x": torch.randn(2, 4, 4, generator=RNG)}, {"x": torch.randn(3, 5, 5, generator=RNG)}]


def doubled(x):
    return 2 * x


@pytest.mark.parametrize(
    ("answer", "name", "words"),
    [
        (lambda x: 2 * x.mT, "axes exchanged", "-2 and -1"),
        (lambda x: 2 * x.transpose(0, 1), "axes exchanged", "-3 and -2"),
        (lambda x: (2 * x).mT.reshape(x.shape), "reshaped instead of transposed", "axes -2 and -1"),
        (lambda x: 2 * x.flip(1), "reversed", "along axis -2"),
        (lambda x: (2 * x).softmax(-1), "softmax once more", "softmax over axis -1"),
        (lambda x: -2 * x, "negative", "wrong sign"),
        (lambda x: (2 * x) ** 2, "squared", "square of what is right"),
        (lambda x: 1 - 2 * x, "one minus", "1 minus"),
        (lambda x: (2 * x).relu(), "never negative", "negative"),
        (lambda x: (2 * x).round(decimals=2), "rounded to 2", "is rounded"),
        (lambda x: (2 * x)[:, None], "an axis too many", "at place -3"),
        (lambda x: (2 * x).sum(1), "sum over an axis", "sum of the right result over axis -2"),
        (lambda x: (2 * x).mean(-1), "mean over an axis", "axis -1"),
    ],
)
def test_one_operation_more(answer, name, words):
    found_by, found_name, sentence = diagnosis(doubled, answer, *CASES)
    assert (found_by, found_name) == ("symptom", name) and words in sentence


def test_squares_show_which_axes():
    assert diagnosis(doubled, lambda x: 2 * x.mT, *SQUARE)[1] == "axes exchanged"


def test_it_must_hold_in_every_case():
    def sometimes(x):
        return (2 * x).mT if x.shape[0] == 2 else 2 * x.flip(0)

    assert diagnosis(doubled, sometimes, *SQUARE)[1] not in ("axes exchanged", "reversed")


def test_a_match_that_may_be_chance_is_not_told():
    assert diagnosis(lambda x: x * 0, lambda x: x * 0 + 1, {"x": torch.ones(2)})[1] not in ("one minus", "exponential")


def halves(x):
    return x[:4], x[4:]


PARTS = {"returns": ("low", "high")}


@pytest.mark.parametrize(
    ("answer", "name", "words"),
    [
        (lambda x: (x[4:], x[:4]), "parts in another order", "high, low"),
        (lambda x: x[:4], "one part alone", "`low` alone"),
        (lambda x: (x[:4].flip(0), x[4:]), "reversed", "`low` is right but reversed"),
    ],
)
def test_parts(answer, name, words):
    found_by, found_name, sentence = diagnosis(
        halves, answer, {"x": torch.arange(8.0)}, {"x": torch.arange(9.0) ** 2}, **PARTS
    )
    assert (found_by, found_name) == ("symptom", name) and words in sentence
