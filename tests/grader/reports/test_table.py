"""The table: points and status of every exercise, in every lesson that has results."""

import csv
import io

from reported import exercise

from course_grader.reports.lateness import parse_due, parse_policy
from course_grader.reports.roster import Person

DUE = parse_due("2026-11-30T23:59:00+00:00")


def rows(a_class, name="grades.csv"):
    text = a_class.read(name)
    assert text[0] == "\ufeff"
    return list(csv.DictReader(io.StringIO(text[1:])))


def test_rows_and_sums(a_class):
    a_class.add("ann", exercise("1.1"), exercise("1.2", "off limits"))
    a_class.add("ann", exercise("0.1"), lesson="00", label="y.ipynb")
    a_class.add("=bob()", exercise("1.1", "not attempted"), noticed=["replaces check"], review=True)
    a_class.add("carl", lesson="", problem="it is empty")
    a_class.write_reports()
    ann, bob, carl = sorted(rows(a_class), key=lambda row: row["student"].strip("'="))
    assert [ann[name] for name in ("0.1 points", "1.1 points", "1.2 points", "1.2 status", "total", "of")] == [
        "2", "2", "0", "off limits", "4", "7",
    ]  # fmt: skip
    assert (ann["lesson 00"], ann["lesson 01"], bob["lesson 00"]) == ("2", "2", "")
    assert (bob["student"], bob["1.1 status"], bob["0.1 status"], bob["review"]) == (
        "'=bob()",
        "empty",
        "nothing handed in",
        "yes",
    )
    assert (carl["1.1 points"], carl["1.1 status"], carl["total"]) == ("", "unreadable", "0")
    assert "it is empty" in carl["notes"]


def test_the_columns_of_a_roster_and_of_a_deadline(a_class):
    a_class.add("王小明_7", exercise("1.2"), modified=DUE.timestamp() + 1)
    people = (Person("1", "w@x.edu", "王小明"), Person("2", "n@x.edu", "Never There"))
    a_class.write_reports(roster=people, due=DUE, policy=parse_policy("50% per day"))
    wang, never = rows(a_class)
    assert list(wang)[:4] == ["student", "id", "e-mail", "name"] and wang["name"] == "王小明"
    assert (wang["lesson 01"], wang["lesson 01 before late"]) == ("1.5", "3")
    assert wang["late"] == "lesson 01: 1 day, 1.5 of 3 points kept"
    assert (never["id"], never["1.2 status"], never["notes"]) == ("2", "nothing handed in", "nothing handed in")


def test_points_by_hand_are_shown_as_such(a_class):
    a_class.add("ann", exercise("1.2", "wrong")).overrides("ann,1.2,2,,").write_reports()
    (ann,) = rows(a_class)
    assert (ann["1.2 points"], ann["1.2 status"]) == ("2", "by hand (was wrong)")
    assert ann["notes"] == "1.2: 2 points by hand instead of 0"


def test_every_reason_for_review_has_a_row(a_class):
    reasons = [f"answer 1.1, line {line}: {'x' * 300}" for line in range(50)]
    a_class.add("ann", exercise("1.1"), noticed=reasons, review=True).write_reports()
    found = rows(a_class, "review.csv")
    assert [row["reason"] for row in found] == reasons and {row["student"] for row in found} == {"ann"}
