"""The command that writes points for a platform."""

import csv

import pytest
from reported import AClass, exercise

from course_grader.__main__ import main
from course_grader.reports.results_folder import ResultsFolder
from course_grader.reports.roster import Person


@pytest.fixture
def grades(tmp_path):
    results = ResultsFolder(tmp_path / "grades")
    a_class = AClass(results).add("Ann Lee_7", exercise("1.2")).overrides("1,1.2,1,,")
    a_class.write_reports(roster=(Person("1", "ann@x.edu", "Ann Lee"),))
    results.close()
    return tmp_path / "grades"


def rows(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_overrides_and_roster_are_in_it(grades, tmp_path):
    out = tmp_path / "new folder" / "canvas.csv"
    assert main(["export", "--format", "canvas", str(grades), "--output", str(out)]) == 0
    possible, ann = rows(out)
    assert possible["Lesson 01"] == "3" and (ann["Student"], ann["SIS User ID"], ann["Lesson 01"]) == (
        "Ann Lee",
        "1",
        "1",
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--lesson", "9"], "--lesson (09) was not graded there; expected one of 01"),
        ([], "nothing was graded there; expected the --output of the grader"),
    ],
)
def test_what_cannot_be_exported_is_said(grades, tmp_path, options, said, capsys):
    folder = grades if options else tmp_path / "elsewhere"
    out = tmp_path / "x.csv"
    assert main(["export", "--format", "nbgrader", str(folder), "--output", str(out), *options]) == 2
    assert said in capsys.readouterr().err and not out.exists() and not (tmp_path / "elsewhere").exists()
