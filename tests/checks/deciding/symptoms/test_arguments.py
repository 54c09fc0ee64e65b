"""Answers that are right for other arguments."""

import pytest
import torch
from toy_exercises import diagnosis

RNG = torch.Generator().manual_seed(0)


def tensors():
    return {
        "a": torch.randn(4, 4, generator=RNG),
        "b": torch.randn(4, 4, generator=RNG),
        "mask": torch.rand(4, 4, generator=RNG) > 0.4,
    }


CASES = [tensors(), tensors(), tensors() | {"mask": None}]


def masked(a, b, mask):
    mixed = a @ b + torch.arange(4.0)
    return mixed if mask is None else torch.where(mask, mixed, mixed.exp())


@pytest.mark.parametrize(
    ("answer", "name", "words"),
    [
        (lambda a, b, mask: masked(b, a, mask), "arguments exchanged", "`a` and `b` are exchanged"),
        (lambda a, b, mask: masked(a, a, mask), "one argument for another", "`a` stands where `b` should"),
        (lambda a, b, mask: masked(a, b, None), "argument ignored", "`mask` is left out"),
        (lambda a, b, mask: masked(a, b, None if mask is None else ~mask), "mask inverted", "`mask` is inverted"),
        (lambda a, b, mask: masked(a, b, None if mask is None else mask.mT), "mask turned", "`mask` are exchanged"),
        (lambda a, b, mask: masked(a.mT, b, mask), "argument turned", "last two axes of `a`"),
        (lambda a, b, mask: masked(-a, b, mask), "argument negated", "`a` has the other sign"),
        (lambda a, b, mask: masked(torch.zeros_like(a), b, mask), "argument ignored", "`a` is all zeros"),
    ],
)
def test_tensors(answer, name, words):
    found_by, found_name, sentence = diagnosis(masked, answer, *CASES)
    assert (found_by, found_name) == ("symptom", name) and words in sentence


NUMBERS = [{"n": 3, "p": 0.25, "sharp": True}, {"n": 5, "p": 0.75, "sharp": False}, {"n": 8, "p": 0.5, "sharp": True}]


def count(n, p, sharp):
    return torch.arange(4.0) ** p * n + (torch.arange(4.0) + n).sin() * (1 if sharp else 3)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda n, p, sharp: count(n + 1, p, sharp), "for `n` + 1"),
        (lambda n, p, sharp: count(n, 1 - p, sharp), "for 1 - `p`"),
        (lambda n, p, sharp: count(n, 1 / p, sharp), "for 1 / `p`"),
        (lambda n, p, sharp: count(n, p, True), "if `sharp` is True in every case"),
        (lambda n, p, sharp: count(n, p, not sharp), "if `sharp` is turned round"),
    ],
)
def test_numbers_and_flags(answer, words):
    assert words in diagnosis(count, answer, *NUMBERS)[2]


def test_a_change_that_cannot_be_made_is_passed_over():
    assert diagnosis(lambda n: 1 / (n + 1), lambda n: 99.0, {"n": 0}, {"n": 4})[0] in ("", "symptom")
