"""What a symptom looks at, and how two things are told as one."""

import pytest
import torch

from course_checks.deciding.wrong_answer import Diagnosis, as_numbers, part_of
from course_checks.running.encode import encode


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (torch.ones(2, 3), (2, 3)),
        (torch.ones(2, dtype=torch.bool), (2,)),
        (3, ()),
        (0.5, ()),
        ([1, 2.5], (2,)),
        ([[1, 2], [3, 4]], (2, 2)),
        ((torch.ones(2), torch.zeros(2)), (2, 2)),
    ],
)
def test_numbers(value, shape):
    numbers = as_numbers(encode(value))
    assert numbers.dtype == torch.float64 and tuple(numbers.shape) == shape


@pytest.mark.parametrize(
    "value", ["a", None, [], [[1], [2, 3]], [1, "a"], {"a": 1}, torch.ones(1, dtype=torch.complex64)]
)
def test_what_are_no_numbers(value):
    assert as_numbers(encode(value)) is None


def test_parts():
    pair = encode((1, 2))
    assert part_of(pair, 1, 2) == encode(2)
    assert part_of(pair, 0, 3) is None and part_of(encode(1), 0, 2) is None
    assert part_of(encode([1, 2]), 0, 1) == encode([1, 2])


def test_two_things_at_once():
    both = Diagnosis("mistake", "a", "one is wrong.", "mend one.").and_also(
        Diagnosis("symptom", "b", "another too.", "mend it.")
    )
    assert both == Diagnosis(
        "pair", "a + b", "two things at once: one is wrong; and another too.", "Mend one. Mend it."
    )


@pytest.mark.parametrize(
    "advice", ["x = x + f(x): nothing is lost.", "dim=0 sums down a column.", "query @ key.mT fits."]
)
def test_code_gets_no_capital(advice):
    assert (
        advice
        in Diagnosis("mistake", "a", "one.", "mend it.").and_also(Diagnosis("mistake", "b", "two.", advice)).advice
    )
