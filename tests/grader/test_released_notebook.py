"""The released notebook as it is read from the exercise notebook."""

import json

import handed_in
import pytest

from course_checks.catalogue import catalogue
from course_grader.released_notebook import checked, load_releases, parse


def test_every_exercise_of_the_course_is_released(root):
    releases = load_releases(root / "exercises")
    points = {number: e.points for released in releases.values() for number, e in released.exercises.items()}
    lessons = {number.split(".")[0].zfill(2) for number in points}
    assert points == {number: e.points for number, e in catalogue().items() if number.split(".")[0].zfill(2) in lessons}
    assert lessons == set(releases)


def test_one_lesson(root):
    (released,) = load_releases(root / "exercises", "1").values()
    assert (released.lesson, released.stem, released.total) == ("01", handed_in.LESSON_01, 24)
    assert {n: e.points for n, e in released.exercises.items()} == handed_in.POINTS_01
    assert released.exercises["1.1"].expression == "dot"
    assert [cell.id for cell in released.cells if cell.role == "answer"][-1] == "answer-1-9"
    assert released.cells[0].role == "provided"


def test_no_such_lesson(root, tmp_path):
    with pytest.raises(ValueError, match="no exercise notebook for lesson 77"):
        load_releases(root / "exercises", "77")
    with pytest.raises(ValueError, match="no exercise notebook in this folder"):
        load_releases(tmp_path)


def test_a_check_cell_without_a_check():
    assert checked("x = 1\ncheck('1.1', a.b)") == ("1.1", "a.b")
    with pytest.raises(ValueError, match="without check"):
        checked("print(1)")
    notebook = handed_in.blank()
    notebook["cells"][handed_in.position(notebook, "check-1-1")]["source"] = "pass"
    with pytest.raises(ValueError, match="without check"):
        parse(handed_in.LESSON_01, json.dumps(notebook).encode())
