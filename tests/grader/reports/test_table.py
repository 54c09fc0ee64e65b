"""The table: a row a student, a column an exercise."""

import csv
import io

import pytest

from course_grader.master import load_masters
from course_grader.reports.results_folder import ResultsFolder
from course_grader.reports.table import table
from course_grader.submissions.record import Entry


@pytest.fixture
def results(tmp_path):
    return ResultsFolder(tmp_path)


def result(lesson, earned, **changes):
    exercises = [{"number": number, "earned": points} for number, points in earned.items()]
    found = {"lesson": lesson, "exercises": exercises, "problem": "", "review": False}
    return found | {"restored": [], "noticed": [], "events": []} | changes


def rows(results, root, *handed):
    submissions = []
    for student, label, modified, found in handed:
        lesson = found["lesson"] if found else "01"
        submissions.append(Entry(student, label, lesson, True, modified=modified))
        if found is not None:
            results.store(student, label, found, "", lesson)
    text = table(submissions, results, load_masters(root / "exercises"))
    assert all(not line.startswith(("=", "+", "@", "-")) for line in text.splitlines())
    return {row["student"]: row for row in csv.DictReader(io.StringIO(text))}


def test_rows_and_sums(results, root):
    found = rows(
        results,
        root,
        ("ann", "a", 0.0, result("01", {"1.1": 2, "1.2": 0})),
        ("ann", "b", 0.0, result("00", {"0.1": 2})),
        ("=bob()", "a", 0.0, result("01", {"1.1": 0.5}, review=True, noticed=["replaces check"])),
        ("carl", "a", 0.0, result("", {}, problem="it is empty")),
        ("dora", "a", 0.0, None),
    )
    assert [found["ann"][name] for name in ("0.1", "1.1", "1.2", "1.3", "total", "of")] == [
        "2",
        "2",
        "0",
        "",
        "4",
        "36",
    ]
    assert found["'=bob()"]["total"] == "0.5" and found["'=bob()"]["review"] == "yes"
    assert "replaces check" in found["'=bob()"]["notes"]
    assert found["carl"]["total"] == "0" and "it is empty" in found["carl"]["notes"]
    assert "not graded yet" in found["dora"]["notes"] and len(found) == 4


def test_what_does_not_count_is_a_note(results, root):
    older = Entry("ann", "old", "01", note="not graded, since new counts for lesson 01", review=True)
    results.store("ann", "new", result("01", {"1.1": 0}), "", "01")
    text = table([Entry("ann", "new", "01", True), older], results, load_masters(root / "exercises"))
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["1.1"], row["notes"], row["review"]) == ("0", f"old: {older.note}", "yes")
