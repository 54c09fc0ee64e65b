"""All reports or none; what was deleted comes back; what people wrote stays."""

import os
import shutil

import pytest
from reported import exercise

from course_grader.reports.lateness import parse_due
from course_grader.reports.overrides import TEMPLATE
from course_grader.reports.write_reports import check_instructor_files

REPORTS = ("grades.csv", "review.csv", "report.html", "class.json")


def contents(a_class):
    return {path: path.read_bytes() for path in a_class.results.folder.rglob("*") if path.is_file()}


def test_deleted_feedback_is_written_again(a_class):
    a_class.add("ann", exercise("1.1")).write_reports()
    before = contents(a_class)
    shutil.rmtree(a_class.results.folder / "feedback")
    a_class.write_reports()
    assert contents(a_class) == before and "2 of 2 points" in a_class.page("ann")


def test_a_page_that_has_not_changed_is_not_written_again(a_class):
    a_class.add("ann", exercise("1.1")).write_reports()
    path = a_class.results.feedback_path("ann", "x.ipynb", "01")
    os.utime(path, (1, 1))
    a_class.write_reports()
    assert path.stat().st_mtime == 1


def test_a_mistyped_override_leaves_everything_as_it_was(a_class):
    a_class.add("ann", exercise("1.1")).write_reports()
    a_class.overrides("ann,1.1,99,,")
    before = contents(a_class)
    a_class.add("bob", exercise("1.1"))
    with pytest.raises(ValueError, match="points is '99'"):
        a_class.write_reports(due=parse_due("2026-11-30T23:59"))
    assert {path: data for path, data in contents(a_class).items() if path.name in (*REPORTS, "overrides.csv")} == {
        path: data for path, data in before.items() if path.name in (*REPORTS, "overrides.csv")
    }


def test_overrides_are_made_once_and_never_touched_again(a_class):
    a_class.add("ann", exercise("1.1")).write_reports()
    assert a_class.read("overrides.csv") == TEMPLATE
    a_class.overrides("ann,1.1,1,,")
    before = a_class.read("overrides.csv")
    assert a_class.write_reports().students[0].total == 1 and a_class.write_reports().students[0].total == 1
    assert a_class.read("overrides.csv") == before


def test_people_s_files_are_looked_at_before_a_class_is_graded(a_class):
    a_class.add("ann", exercise("1.1")).overrides("bob,1.1,1,,")
    with pytest.raises(ValueError, match="student is 'bob'"):
        check_instructor_files(a_class.results, a_class.entries)


def test_a_full_disk_leaves_no_half_of_a_file(a_class, monkeypatch):
    a_class.add("ann", exercise("1.1")).write_reports()
    before = a_class.read("grades.csv")
    a_class.add("bob", exercise("1.1"))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        a_class.write_reports()
    assert a_class.read("grades.csv") == before and not list(a_class.results.folder.rglob(".part-*"))
