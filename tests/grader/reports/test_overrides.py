"""The hand-edited file: read as people write it, refused with line and value where they mistype."""

import dataclasses

import pytest

from course_checks.catalogue import catalogue
from course_grader.reports.overrides import FILE, TEMPLATE, Override, read_overrides

HEADER = "student,exercise,points,due,comment\n"


@pytest.fixture(autouse=True)
def a_tenth(monkeypatch):
    """A lesson with ten exercises, whatever the course has just now."""
    monkeypatch.setitem(catalogue(), "5.10", dataclasses.replace(catalogue()["5.2"], number="5.10"))


def write(tmp_path, text):
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    return tmp_path


def test_rows(tmp_path):
    rows = "ann,5.2,3,,\nann,lesson 05,,2026-12-02T23:59+01:00,\n#bob,5.2,1,,\n\n王,exercise 5.10,0,,很好\nbob,5,15,,oral\n"
    found = read_overrides(write(tmp_path, HEADER + rows))
    assert found[0] == Override(2, "ann", "05", "5.2", 3.0)
    assert (found[1].lesson, found[1].exercise, found[1].points, found[1].due.day) == ("05", "", None, 2)
    assert found[2] == Override(6, "王", "05", "5.10", 0.0, None, "很好")
    assert found[3] == Override(7, "bob", "05", "", 15.0, None, "oral")


def test_the_template_holds_no_row_and_each_of_its_examples_is_one(tmp_path):
    assert read_overrides(tmp_path) == [] == read_overrides(write(tmp_path, TEMPLATE))
    header, hint, *examples = TEMPLATE.splitlines()
    text = "\n".join([header, *(line.removeprefix("# ") for line in examples)])
    assert "begin with #" in hint
    assert len(read_overrides(write(tmp_path, text.replace("ann,lesson 05,,", "bob,lesson 05,,")))) == 4


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (",5.2,1,,", "student is empty"),
        ("ann,5.99,1,,", "exercise is '5.99'; expected an exercise such as 5.2 or a lesson"),
        ("ann,,1,,", "exercise is ''"),
        ("ann,lesson 44,1,,", "exercise is 'lesson 44'"),
        ("ann,5.1,1,,", "'5.1', which a spreadsheet makes of 5.10 too; expected 'exercise 5.1'"),
        ("ann,5.2,four,,", "points is 'four'; expected a number from 0 to 3"),
        ("ann,5.2,-1,,", "points is '-1'"),
        ("ann,5.2,nan,,", "points is 'nan'"),
        ("ann,5.2,4,,", "points is '4'"),
        ("ann,5.2,,2026-12-02T23:59,", "due stands beside exercise 5.2"),
        ("ann,lesson 05,,soon,", "'soon' is not a date with a time"),
        ("ann,5.2,,,", "points, due and comment are all empty"),
    ],
)
def test_a_mistyped_row_names_line_value_and_what_was_expected(tmp_path, row, said):
    with pytest.raises(ValueError, match=rf"overrides \(.*overrides.csv\), line 3: .*{said}"):
        read_overrides(write(tmp_path, f"{HEADER}ann,1.1,1,,\n{row}\n"))


def test_two_rows_about_the_same(tmp_path):
    with pytest.raises(ValueError, match="line 3: line 2 is about the same"):
        read_overrides(write(tmp_path, HEADER + "ann,5.2,1,,\nann,5.2,2,,\n"))


@pytest.mark.parametrize("header", ["student,points\n", "student,exercise,punkte\n"])
def test_a_header_of_other_names(tmp_path, header):
    with pytest.raises(ValueError, match="expected student, exercise, points, due, comment"):
        read_overrides(write(tmp_path, header + "ann,1\n"))
