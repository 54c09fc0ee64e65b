"""Of all that a student handed in, the one file that counts for a lesson; and a reason for every other."""

import json
import os
import shutil
import time
import zipfile

import handed_in
import pytest

from course_grader.master import load_masters
from course_grader.submissions import choose as choosing
from course_grader.submissions.choose import choose
from course_grader.submissions.find import find_submissions
from course_grader.submissions.submission import Submission

LESSON_02 = "02_soft_lookup"


@pytest.fixture(scope="module")
def masters(root):
    return {lesson: found for lesson, found in load_masters(root / "exercises").items() if lesson in ("01", "02", "05")}


def put(path, notebook, age=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook if isinstance(notebook, bytes) else handed_in.as_bytes(notebook))
    os.utime(path, (1e9 - age, 1e9 - age))


def chosen(folder, masters, graded=("01",)):
    """Lesson -> the label of the file that counts; and the other choices by label."""
    choices = choose(find_submissions(folder).submissions, masters, graded, 16)
    counting = {choice.lesson: choice.submission.label for choice in choices if choice.counts}
    return counting, {choice.submission.label: choice for choice in choices if not choice.counts}


def test_content_decides_before_date(tmp_path, masters):
    put(tmp_path / "ann" / "mine.ipynb", handed_in.solved(), age=100)
    put(tmp_path / "ann" / f"{LESSON_02}.ipynb", handed_in.solved(LESSON_02))
    put(tmp_path / "ann" / "Untitled.ipynb", {"nbformat": 4, "cells": []})
    counting, others = chosen(tmp_path, masters)
    assert counting == {"01": "mine.ipynb"}
    assert set(others) == {"Untitled.ipynb"} and "no lesson" in others["Untitled.ipynb"].note


def test_a_file_of_another_lesson_is_not_graded_as_this_one(tmp_path, masters):
    put(tmp_path / "ann" / f"{handed_in.LESSON_01}.ipynb", handed_in.solved(LESSON_02))
    counting, others = chosen(tmp_path, masters)
    (other,) = others.values()
    assert counting == {} and other.note == "it belongs to lesson 02, which is not graded here"


def test_of_several_files_the_newest_counts_and_the_others_are_named(tmp_path, masters):
    for name, age in (("a", 5), ("b", 0), ("c", 9)):
        put(tmp_path / "ann" / f"{name}.ipynb", handed_in.solved(only={"answer-1-1"}), age)
    counting, others = chosen(tmp_path, masters)
    assert counting == {"01": "b.ipynb"} and set(others) == {"a.ipynb", "c.ipynb"}
    assert all("b.ipynb counts" in other.note for other in others.values())


def test_what_was_handed_out_gives_way_to_work(tmp_path, masters):
    put(tmp_path / "ann" / "a.ipynb", handed_in.solved(only={"answer-1-1"}), age=10)
    put(tmp_path / "ann" / "b.ipynb", handed_in.blank())
    assert chosen(tmp_path, masters)[0] == {"01": "a.ipynb"}


def test_an_archives_old_date_does_not_beat_a_file_of_today(tmp_path, masters):
    path = tmp_path / "ann" / "old.zip"
    put(tmp_path / "ann" / "new.ipynb", handed_in.solved(only={"answer-1-1"}))
    os.utime(tmp_path / "ann" / "new.ipynb")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("old.ipynb", (2020, 5, 5, 5, 5, 5)), handed_in.as_bytes(handed_in.solved()))
    assert chosen(tmp_path, masters)[0] == {"01": "new.ipynb"}


@pytest.fixture
def clone(tmp_path, root, masters):
    """The whole course as it was cloned, lesson 01 of it solved in ``exercises``."""
    for folder in ("exercises", "notebooks", "solutions"):
        for master in masters.values():
            (tmp_path / "ann" / folder).mkdir(parents=True, exist_ok=True)
            shutil.copy(root / folder / f"{master.stem}.ipynb", tmp_path / "ann" / folder)
    return tmp_path / "ann"


def test_of_a_clone_the_exercises_are_the_students_work(clone, masters):
    put(clone / "exercises" / f"{handed_in.LESSON_01}.ipynb", handed_in.solved(only={"answer-1-1"}), age=1e8)
    counting, others = chosen(clone.parent, masters, ("01", "02"))
    assert counting == {lesson: f"exercises/{masters[lesson].stem}.ipynb" for lesson in ("01", "02")}
    (other,) = others.values()
    assert "the course's own" in other.note and "more files" in other.note and not other.problem


def test_the_solution_under_another_name_is_not_the_students_work(clone, masters, root):
    shutil.rmtree(clone / "exercises")
    (clone / "solutions").rename(clone / "exercises")
    counting, others = chosen(clone.parent, masters)
    assert counting == {}
    (solution,) = [other for other in others.values() if other.lesson == "01"]
    assert "own solution" in solution.note and solution.review and solution.problem


def test_without_metadata_the_folder_tells(clone, masters):
    for path in clone.rglob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        put(path, notebook | {"metadata": {}}, age=0 if "solutions" in path.parts else 9)
    assert chosen(clone.parent, masters)[0] == {"01": f"exercises/{handed_in.LESSON_01}.ipynb"}


def test_a_lessons_page_alone_is_told(tmp_path, masters, root):
    put(tmp_path / "ann" / "x.ipynb", (root / "notebooks" / f"{handed_in.LESSON_01}.ipynb").read_bytes())
    counting, others = chosen(tmp_path, masters)
    assert counting == {} and "page of a lesson" in others["x.ipynb"].note and others["x.ipynb"].problem


def test_what_cannot_be_read_is_told_and_beside_work_only_noted(tmp_path, masters):
    put(tmp_path / "ann" / "x.ipynb", b"{")
    put(tmp_path / "bob" / "x.ipynb", handed_in.solved())
    put(tmp_path / "bob" / "data.gz", b"x")
    choices = choose(find_submissions(tmp_path).submissions, masters, ("01",), 16)
    told = {(one.submission.student, one.submission.label): (one.problem, one.review) for one in choices if one.note}
    assert told == {("ann", "x.ipynb"): (True, False), ("bob", "data.gz"): (False, False)}


def test_whatever_is_raised_stays_with_its_file(tmp_path, masters, monkeypatch):
    def look(submission, *others):
        if submission.student == "ann":
            raise RecursionError("too deep")
        return choosing.Look("01", "exercise")

    monkeypatch.setattr(choosing, "look", look)
    submissions = [Submission(student, "x", tmp_path) for student in ("ann", "bob")]
    ann, bob = choose(submissions, masters, ("01",), 16)
    assert ann.note == "could not be graded: RecursionError: too deep" and ann.review and bob.counts


@pytest.mark.skipif(not choosing.bounded.__globals__["CAN_FORK"], reason="without processes there are no bounds")
def test_the_time_for_one_student_is_bounded(tmp_path, masters, monkeypatch):
    monkeypatch.setattr(choosing, "STUDENT_S", 0.5)
    monkeypatch.setattr(choosing, "look", lambda *a: time.sleep(60))
    started = time.monotonic()
    first, second = choose([Submission("ann", name, tmp_path) for name in "ab"], masters, ("01",), 16)
    assert time.monotonic() - started < 30 and first.review and "longer than" in first.note
    assert "was not read" in second.note and second.review
