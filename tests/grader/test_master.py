"""The master as it is read from the exercise notebook."""

import json

import handed_in
import pytest

from course_checks.catalogue import catalogue
from course_grader.master import checked, load_masters, parse


def test_every_exercise_of_the_course_is_in_a_master(root):
    masters = load_masters(root / "exercises")
    points = {number: e.points for master in masters.values() for number, e in master.exercises.items()}
    lessons = {number.split(".")[0].zfill(2) for number in points}
    assert points == {number: e.points for number, e in catalogue().items() if number.split(".")[0].zfill(2) in lessons}
    assert lessons == set(masters)


def test_one_lesson(root):
    (master,) = load_masters(root / "exercises", "1").values()
    assert (master.lesson, master.stem, master.total) == ("01", handed_in.LESSON_01, 24)
    assert {n: e.points for n, e in master.exercises.items()} == handed_in.POINTS_01
    assert master.exercises["1.1"].expression == "dot"
    assert [cell.id for cell in master.cells if cell.role == "answer"][-1] == "answer-1-9"
    assert master.cells[0].role == "given"


def test_no_such_lesson(root, tmp_path):
    with pytest.raises(ValueError, match="no exercise notebook for lesson 77"):
        load_masters(root / "exercises", "77")
    with pytest.raises(ValueError, match="no exercise notebook in this folder"):
        load_masters(tmp_path)


def test_a_check_cell_without_a_check():
    assert checked("x = 1\ncheck('1.1', a.b)") == ("1.1", "a.b")
    with pytest.raises(ValueError, match="without check"):
        checked("print(1)")
    notebook = handed_in.blank()
    notebook["cells"][handed_in.position(notebook, "check-1-1")]["source"] = "pass"
    with pytest.raises(ValueError, match="without check"):
        parse(handed_in.LESSON_01, json.dumps(notebook).encode())
