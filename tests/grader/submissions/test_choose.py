"""Of all that a student handed in, the one file that counts for a lesson; and a reason for every other."""

import json
import os
import shutil
import time
import zipfile

import handed_in
import pytest

from course_grader.released_notebook import load_releases
from course_grader.submissions import select_files as selection
from course_grader.submissions.find import find_submissions
from course_grader.submissions.select_files import select_files
from course_grader.submissions.submission import Submission

LESSON_02 = "02_soft_lookup"


@pytest.fixture(scope="module")
def releases(root):
    return {
        lesson: found for lesson, found in load_releases(root / "exercises").items() if lesson in ("01", "02", "05")
    }


def put(path, notebook, age=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook if isinstance(notebook, bytes) else handed_in.as_bytes(notebook))
    os.utime(path, (1e9 - age, 1e9 - age))


def chosen(folder, releases, graded=("01",)):
    """Lesson -> the label of the file that counts; and the other choices by label."""
    decisions = select_files(find_submissions(folder).submissions, releases, graded, 16)
    counting = {decision.lesson: decision.submission.label for decision in decisions if decision.counts}
    return counting, {decision.submission.label: decision for decision in decisions if not decision.counts}


def test_content_decides_before_date(tmp_path, releases):
    put(tmp_path / "ann" / "mine.ipynb", handed_in.solved(), age=100)
    put(tmp_path / "ann" / f"{LESSON_02}.ipynb", handed_in.solved(LESSON_02))
    put(tmp_path / "ann" / "Untitled.ipynb", {"nbformat": 4, "cells": []})
    counting, others = chosen(tmp_path, releases)
    assert counting == {"01": "mine.ipynb"}
    assert set(others) == {"Untitled.ipynb"} and "no lesson" in others["Untitled.ipynb"].note


def test_a_file_of_another_lesson_is_not_graded_as_this_one(tmp_path, releases):
    put(tmp_path / "ann" / f"{handed_in.LESSON_01}.ipynb", handed_in.solved(LESSON_02))
    counting, others = chosen(tmp_path, releases)
    (other,) = others.values()
    assert counting == {} and other.note == "it belongs to lesson 02, which is not graded here"


def test_of_several_files_the_newest_counts_and_the_others_are_named(tmp_path, releases):
    for name, age in (("a", 5), ("b", 0), ("c", 9)):
        put(tmp_path / "ann" / f"{name}.ipynb", handed_in.solved(only={"answer-1-1"}), age)
    counting, others = chosen(tmp_path, releases)
    assert counting == {"01": "b.ipynb"} and set(others) == {"a.ipynb", "c.ipynb"}
    assert all("b.ipynb counts" in other.note for other in others.values())


def test_what_was_handed_out_gives_way_to_work(tmp_path, releases):
    put(tmp_path / "ann" / "a.ipynb", handed_in.solved(only={"answer-1-1"}), age=10)
    put(tmp_path / "ann" / "b.ipynb", handed_in.blank())
    assert chosen(tmp_path, releases)[0] == {"01": "a.ipynb"}


def test_an_archives_old_date_does_not_beat_a_file_of_today(tmp_path, releases):
    path = tmp_path / "ann" / "old.zip"
    put(tmp_path / "ann" / "new.ipynb", handed_in.solved(only={"answer-1-1"}))
    os.utime(tmp_path / "ann" / "new.ipynb")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("old.ipynb", (2020, 5, 5, 5, 5, 5)), handed_in.as_bytes(handed_in.solved()))
    assert chosen(tmp_path, releases)[0] == {"01": "new.ipynb"}


@pytest.fixture
def clone(tmp_path, root, releases):
    """The whole course as it was cloned, lesson 01 of it solved in ``exercises``."""
    for folder in ("exercises", "notebooks", "solutions"):
        for released in releases.values():
            (tmp_path / "ann" / folder).mkdir(parents=True, exist_ok=True)
            shutil.copy(root / folder / f"{released.stem}.ipynb", tmp_path / "ann" / folder)
    return tmp_path / "ann"


def test_of_a_clone_the_exercises_are_the_students_work(clone, releases):
    put(clone / "exercises" / f"{handed_in.LESSON_01}.ipynb", handed_in.solved(only={"answer-1-1"}), age=1e8)
    counting, others = chosen(clone.parent, releases, ("01", "02"))
    assert counting == {lesson: f"exercises/{releases[lesson].stem}.ipynb" for lesson in ("01", "02")}
    (other,) = others.values()
    assert "the course's own" in other.note and "more files" in other.note and not other.problem


def test_the_solution_under_another_name_is_not_the_students_work(clone, releases, root):
    shutil.rmtree(clone / "exercises")
    (clone / "solutions").rename(clone / "exercises")
    counting, others = chosen(clone.parent, releases)
    assert counting == {}
    (solution,) = [other for other in others.values() if other.lesson == "01"]
    assert "own solution" in solution.note and solution.review and solution.problem


def test_without_metadata_the_folder_tells(clone, releases):
    for path in clone.rglob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        put(path, notebook | {"metadata": {}}, age=0 if "solutions" in path.parts else 9)
    assert chosen(clone.parent, releases)[0] == {"01": f"exercises/{handed_in.LESSON_01}.ipynb"}


def test_a_lessons_page_alone_is_told(tmp_path, releases, root):
    put(tmp_path / "ann" / "x.ipynb", (root / "notebooks" / f"{handed_in.LESSON_01}.ipynb").read_bytes())
    counting, others = chosen(tmp_path, releases)
    assert counting == {} and "page of a lesson" in others["x.ipynb"].note and others["x.ipynb"].problem


def test_what_cannot_be_read_is_told_and_beside_work_only_noted(tmp_path, releases):
    put(tmp_path / "ann" / "x.ipynb", b"{")
    put(tmp_path / "bob" / "x.ipynb", handed_in.solved())
    put(tmp_path / "bob" / "data.gz", b"x")
    decisions = select_files(find_submissions(tmp_path).submissions, releases, ("01",), 16)
    told = {(one.submission.student, one.submission.label): (one.problem, one.review) for one in decisions if one.note}
    assert told == {("ann", "x.ipynb"): (True, False), ("bob", "data.gz"): (False, False)}


def test_whatever_is_raised_stays_with_its_file(tmp_path, releases, monkeypatch):
    def inspect_file(submission, *others):
        if submission.student == "ann":
            raise RecursionError("too deep")
        return selection.FileContent("01", "exercise")

    monkeypatch.setattr(selection, "inspect_file", inspect_file)
    submissions = [Submission(student, "x", tmp_path) for student in ("ann", "bob")]
    ann, bob = select_files(submissions, releases, ("01",), 16)
    assert ann.note == "could not be graded: RecursionError: too deep" and ann.review and bob.counts


@pytest.mark.skipif(not selection.bounded.__globals__["CAN_FORK"], reason="without processes there are no bounds")
def test_the_time_for_one_student_is_bounded(tmp_path, releases, monkeypatch):
    monkeypatch.setattr(selection, "STUDENT_S", 0.5)
    monkeypatch.setattr(selection, "inspect_file", lambda *a: time.sleep(60))
    started = time.monotonic()
    first, second = select_files([Submission("ann", name, tmp_path) for name in "ab"], releases, ("01",), 16)
    assert time.monotonic() - started < 30 and first.review and "longer than" in first.note
    assert "was not read" in second.note and second.review
