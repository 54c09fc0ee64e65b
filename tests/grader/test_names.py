"""Names from strangers: safe as files, as table cells, as text."""

import re

import pytest

from course_grader.names import cell, file_id, printable

NASTY = [
    "../../x",
    "a\nb",
    "<b>",
    "=cmd()",
    "",
    "\0",
    "con",
    "a/b",
    "x" * 5000,
    "Ünï",
    "\u202egpj",
    "\ud800",
    ".",
    "-rf",
]


@pytest.mark.parametrize("name", NASTY)
def test_file_names_hold_letters_digits_and_hyphens(name):
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{9,60}", file_id(name, "x.ipynb"))


def test_file_names_differ():
    pairs = [(name, label) for name in NASTY for label in ("a", "b")] + [("a", "b\0c"), ("a\0b", "c")]
    assert len({file_id(*pair) for pair in pairs[:-2]}) == len(pairs) - 2


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "\t=1", " =1", "\r=1"])
def test_no_cell_is_a_formula(name):
    assert cell(name)[0] in "'\N{REPLACEMENT CHARACTER}"


def test_cells_of_numbers_stay_numbers():
    assert (cell(3), cell(2.5), cell(-1), cell(""), cell("ann")) == ("3", "2.5", "-1", "", "ann")


def test_printable():
    assert printable("a\nb\x1b[2J\u202e") == "a�b�[2J�"
    assert printable("x" * 200, 10) == "xxxxxxx..."
