"""What the platforms import, column by column."""

import csv
import io

import pytest
from reported import exercise

from course_grader.reports.lateness import parse_due, parse_policy
from course_grader.reports.platforms import canvas, moodle, nbgrader
from course_grader.reports.roster import Person

DUE = parse_due("2026-11-30T23:59:00+00:00")


def parsed(text):
    assert not text.startswith("\ufeff")
    return list(csv.reader(io.StringIO(text)))


@pytest.fixture
def book(a_class):
    a_class.add("Ann Lee_55_assignsubmission_file_", exercise("1.2"), modified=DUE.timestamp() + 86_400)
    a_class.add("=cmd()", exercise("1.2", "wrong"), modified=DUE.timestamp() - 5)
    people = (Person("1", "ann@x.edu", "Ann Lee", "Ann", "Lee", user="annlee"), Person("2", "", "Never There"))
    a_class.overrides("1,1.2,,,see me")
    return a_class.write_reports(roster=people, due=DUE, policy=parse_policy("10% per day"))


def test_canvas(book):
    assert parsed(canvas(book, ["01"])) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lesson 01"],
        ["    Points Possible", "", "", "", "", "3"],
        ["Lee, Ann", "", "1", "annlee", "", "2.7"],
        ["Never There", "", "2", "", "", ""],
        ["'=cmd()", "", "", "", "", "0"],
    ]


def test_canvas_gets_its_own_numbers_back(a_class):
    a_class.add("leeann_4411_9", exercise("1.2"))
    people = (Person("4411", "", "Ann Lee", "Ann", "Lee", "annlee", "s-1", "A"),)
    assert parsed(canvas(a_class.write_reports(roster=people), ["01"]))[2] == [
        "Lee, Ann",
        "4411",
        "s-1",
        "annlee",
        "A",
        "3",
    ]


def test_moodle(book):
    header, ann, never, other = parsed(moodle(book, ["01"]))
    assert dict(zip(header, ann, strict=True)) == {
        "Identifier": "Participant 55", "Full name": "Ann Lee", "ID number": "1", "Email address": "ann@x.edu",
        "Grade": "2.7", "Maximum Grade": "3", "Last modified (grade)": "", "Feedback comments": "1.2: see me",
    }  # fmt: skip
    assert never[4] == "" and other[:2] == ["", "'=cmd()"]
    with pytest.raises(ValueError, match=r"--lesson \(none\) must be given: 00, 01 are graded"):
        moodle(book, ["00", "01"])


def test_nbgrader(book):
    header, ann, never, _ = parsed(nbgrader(book, ["01"]))
    assert ",".join(header) == (
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_submission_penalty,score,max_score"
    )
    assert ann[:4] == ["lesson_01", "2026-11-30 23:59:00", "2026-12-01 23:59:00", "1"]
    assert ann[4:] == ["Lee", "Ann", "ann@x.edu", "3", "0.3", "2.7", "3"]
    assert never[2:] == ["", "2", "Never There", "", "", "0", "0", "0", "3"]
