"""Which lesson a file belongs to, which one counts for it, and a reason for every other; the list of them all."""

import json
import os
import shutil
import time
from dataclasses import asdict, replace

import handed_in
import pytest

from course_grader.released_notebook import load_releases
from course_grader.submissions import select_files as selection
from course_grader.submissions.find import find_submissions
from course_grader.submissions.identify import is_unchanged_solution, is_untouched, kind_of, lesson_of
from course_grader.submissions.notebook import parse
from course_grader.submissions.rebuild import SubmittedCell
from course_grader.submissions.select_files import select_files
from course_grader.submissions.submission import Submission
from course_grader.submissions.submission_log import FILE, LogEntry, merge_logs, read_log, write_log

LESSON_02 = "02_soft_lookup"


@pytest.fixture(scope="module")
def releases(root):
    return load_releases(root / "exercises")


def put(path, notebook, age=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook if isinstance(notebook, bytes) else handed_in.as_bytes(notebook))
    os.utime(path, (1e9 - age, 1e9 - age))


def chosen(folder, releases, graded=("01",)):
    """Lesson -> the label of the file that counts; and the other decisions by label."""
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
    (tmp_path / "ann" / "mine.ipynb").unlink()
    (tmp_path / "ann" / f"{LESSON_02}.ipynb").rename(tmp_path / "ann" / f"{handed_in.LESSON_01}.ipynb")
    counting, others = chosen(tmp_path, releases)
    note = others[f"{handed_in.LESSON_01}.ipynb"].note
    assert counting == {} and note == "it belongs to lesson 02, which is not graded here"


def test_of_several_files_the_newest_counts_and_the_others_are_named(tmp_path, releases):
    for name, age in (("a", 5), ("b", 0), ("c", 9)):
        put(tmp_path / "ann" / f"{name}.ipynb", handed_in.solved(only={"answer-1-1"}), age)
    counting, others = chosen(tmp_path, releases)
    assert counting == {"01": "b.ipynb"} and set(others) == {"a.ipynb", "c.ipynb"}
    assert all("b.ipynb counts" in other.note for other in others.values())
    put(tmp_path / "ann" / "b.ipynb", handed_in.blank())  # what was handed out gives way to work
    assert chosen(tmp_path, releases)[0] == {"01": "a.ipynb"}


@pytest.fixture
def clone(tmp_path, root, releases):
    """The whole course as it was cloned, lesson 01 of it solved in ``exercises``."""
    for folder in ("exercises", "notebooks", "solutions"):
        (tmp_path / "ann" / folder).mkdir(parents=True)
        for lesson in ("01", "02", "05"):
            shutil.copy(root / folder / f"{releases[lesson].stem}.ipynb", tmp_path / "ann" / folder)
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


def test_a_lessons_page_alone_is_told(tmp_path, releases, root):
    put(tmp_path / "ann" / "x.ipynb", (root / "notebooks" / f"{handed_in.LESSON_01}.ipynb").read_bytes())
    counting, others = chosen(tmp_path, releases)
    assert counting == {} and "page of a lesson" in others["x.ipynb"].note and others["x.ipynb"].problem


def test_what_cannot_be_read_is_told_and_beside_work_only_noted(tmp_path, releases):
    put(tmp_path / "ann" / "x.ipynb", b"{")
    put(tmp_path / "bob" / "x.ipynb", handed_in.solved())
    put(tmp_path / "bob" / "data.gz", b"x")
    decisions = select_files(find_submissions(tmp_path).submissions, releases, ("01",), 16)
    noted = {
        file.submission.label: (file.submission.student, file.problem, file.review) for file in decisions if file.note
    }
    assert noted == {"x.ipynb": ("ann", True, False), "data.gz": ("bob", False, False)}


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


def built(root, folder, stem=handed_in.LESSON_01):
    return parse((root / folder / f"{stem}.ipynb").read_bytes())


def test_the_lesson_is_found_by_ids_then_checks(releases):
    cells = parse(handed_in.as_bytes(handed_in.solved()))[0]
    check_of_10 = [SubmittedCell("code", 'check("10.1", f)')]
    assert lesson_of([*cells, *check_of_10], releases) == "01"
    assert lesson_of(check_of_10, releases) == "10"
    assert lesson_of([], releases) is None and lesson_of(check_of_10, {"05": releases["05"]}) is None


def test_a_lessons_page_is_no_exercise_notebook(root, releases):
    cells, _ = built(root, "notebooks")
    assert lesson_of(cells, releases) is None
    cells.append(SubmittedCell("code", "def dot(a, b): ...\ncheck('1.1', dot)"))
    assert lesson_of(cells, releases) == "01"


def test_a_tour_is_no_exercise_notebook(root):
    tour = json.loads((root / "notebooks" / "quick_tour.ipynb").read_text(encoding="utf-8"))
    assert kind_of(tour["metadata"], "x.ipynb") == "tour"


def test_the_kind_is_told_by_metadata_then_by_folder(root):
    for folder, kind in (("exercises", "exercise"), ("solutions", "solution"), ("notebooks", "lesson")):
        assert kind_of(built(root, folder)[1], "solutions/x.ipynb") == kind
        assert kind_of({}, f"clone/{folder}/x.ipynb") == kind
    assert kind_of({}, "solutions.ipynb") == kind_of({"course": {"kind": 7}}, "x.ipynb") == "exercise"


def test_the_solution_as_built(root, releases):
    for released in releases.values():
        assert is_unchanged_solution(*built(root, "solutions", released.stem), released)
    cells, metadata = built(root, "solutions")
    own = [SubmittedCell(c.kind, "def dot(a, b): ...", c.id) if c.id == "answer-1-1" else c for c in cells]
    assert not is_unchanged_solution(own, metadata, releases["01"])


def test_untouched_is_what_was_handed_out(root, releases):
    assert is_untouched(built(root, "exercises")[0], releases["01"])
    some = handed_in.solved(only={"answer-1-1"})
    extra = handed_in.with_cell(handed_in.blank(), "def dot(a, b): ...")
    for notebook in (some, extra):
        cells, metadata = parse(handed_in.as_bytes(notebook))
        assert not is_untouched(cells, releases["01"]) and not is_unchanged_solution(cells, metadata, releases["01"])


ANN_01 = LogEntry("ann", "x.ipynb", "01", True, modified=1.5, scope=("01",))
ANN_02 = LogEntry("ann", "x.ipynb", "02", True, scope=("02",))
LOST = LogEntry("carl", "y.ipynb", note="it is empty", scope=("01",))


def test_what_is_written_is_read(tmp_path):
    write_log(tmp_path, [ANN_01, replace(LOST, student="\ud800李")])
    assert read_log(tmp_path) == [ANN_01, replace(LOST, student="\ud800李")]


@pytest.mark.parametrize("damage", [None, "[", "7", "[7]", '[{"student": "ann"}]', '[{"student": 7}]'])
def test_where_the_list_is_lost_the_results_tell(tmp_path, damage):
    if damage is not None:
        (tmp_path / FILE).write_text(damage)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "a.json").write_text(json.dumps({"entry": asdict(ANN_01)}))
    (tmp_path / "results" / "b.json").write_text("{")
    (tmp_path / "results" / "c.json").write_text('{"entry": {"student": 7}}')
    assert read_log(tmp_path) == [ANN_01]


def test_another_lesson_stands_beside_the_first():
    for graded in (["02"], ["01", "02"]):
        assert merge_logs([ANN_01], [ANN_02], graded) == [ANN_01, ANN_02]


def test_a_run_has_the_last_word_on_what_it_saw():
    newer = replace(ANN_01, label="newer.ipynb")
    assert merge_logs([ANN_01, LOST], [newer], ["01"]) == [newer, LOST]
    broken = LogEntry("ann", "x.ipynb", note="it is empty", scope=("01",))
    assert merge_logs([ANN_01, ANN_02], [broken], ["01"]) == [broken, ANN_02]
    mended = LogEntry("carl", "y.ipynb", "01", True, scope=("01",))
    assert merge_logs([LOST], [mended], ["01"]) == [mended]
    assert merge_logs([LOST], [replace(LOST, scope=("02",))], ["02"]) == [replace(LOST, scope=("02",))]
    assert merge_logs([LOST], [replace(mended, lesson="02")], ["02"]) == [LOST, replace(mended, lesson="02")]


def test_a_file_of_a_lesson_that_is_not_graded_now_does_not_stand_beside_its_result():
    beside = LogEntry("ann", "z.ipynb", "02", note="it belongs to lesson 02", scope=("01",))
    for before in (ANN_02, replace(ANN_02, counts=False, note="the course's own solution")):
        assert merge_logs([before], [beside], ["01"]) == [before]
    assert merge_logs([], [beside], ["01"]) == [beside]
