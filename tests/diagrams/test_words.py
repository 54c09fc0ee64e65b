import pytest
import torch

from course_utils.diagrams.words import cell_number, labels, matrix, number, number_sum, part, short


def test_numbers_are_short():
    assert [number(x) for x in (7.0, 0.75, -0.5, 12.34, -1234.5, 0.0, 0.004)] == [
        "7",
        "0.75",
        "−0.5",
        "12",
        "−1e3",
        "0",
        "4e−3",
    ]
    assert [cell_number(x) for x in (0.75, -0.75, -1.31, 2.0, 0.0)] == [".75", "−.75", "−1.3", "2", "0"]


def test_a_sum_is_written_out():
    assert number_sum([(0.75, 8.0), (0.25, 4.0)]) == "0.75 · 8 + 0.25 · 4 = 7"
    assert number_sum([(1.0, -2.0)]) == "1 · (−2) = −2"
    assert number_sum([(1.0, float(n)) for n in range(9)]) == "1 · 0 + 1 · 1 + 1 · 2 + … + 1 · 8 = 36"


def test_tokens_on_one_line():
    assert short("a\nb") == "a↵b" and short("") == "" and short(" ") == "␣"
    assert short("x" * 30) == "x" * 11 + "…" and short("\x00") == "□" and short("苹") == "□"


def test_parts():
    assert part(3) == (0, 1, 2) and part(100, 4) == (0, 1, None, 99)


def test_what_does_not_fit(as_a_user):
    with pytest.raises(ValueError, match=r"words \(1\) must be one for each of the 2"):
        labels(["a"], 2, "words")
    with pytest.raises(TypeError, match="x \\(list\\) must be a tensor"):
        matrix([1], "x")
    with pytest.raises(ValueError, match="at least one of each"):
        matrix(torch.zeros(0, 3), "x")
