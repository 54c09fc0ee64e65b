"""Names from strangers: safe as files, as table cells, as text."""

import re
import unicodedata

import pytest

from course_grader.names import file_id, printable

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
    "李小龙",
    "ZOE\u0308",
    "İİ",
]


@pytest.mark.parametrize("name", NASTY)
def test_file_names_are_safe_on_every_file_system(name):
    found = file_id(name, "x.ipynb", "01")
    assert all(letter == "-" or unicodedata.category(letter)[0] in "LMN" for letter in found)
    assert re.search(r"^[^-].*-01-[0-9a-f]{10}$", found) and len(found.encode()) <= 80
    assert unicodedata.is_normalized("NFC", found) and found == found.lower() and found.isprintable()


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("李小龙", "李小龙"),
        ("Zoe\u0308 O'Neil", "zoë-o-neil"),
        ("मोहन", "मोहन"),
        ("李" * 30, "李" * 20),
        ("\0", "student"),
    ],
)
def test_file_names_stay_readable(name, readable):
    plain, lesson, digest = file_id(name, "x.ipynb", "01").rsplit("-", 2)
    assert (plain, lesson, len(digest)) == (readable, "01", 10)


def test_each_lesson_has_its_own_file():
    assert len({file_id("ann", "x.ipynb", lesson) for lesson in ("", "01", "02")}) == 3


def test_file_names_differ():
    pairs = [(name, label) for name in NASTY for label in ("a", "b")] + [("a", "b\0c"), ("a\0b", "c")]
    assert len({file_id(*pair) for pair in pairs[:-2]}) == len(pairs) - 2


def test_printable():
    assert printable("a\nb\x1b[2J\u202e") == "a�b�[2J�"
    assert printable("x" * 200, 10) == "xxxxxxx..."
