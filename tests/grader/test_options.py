"""A value that may not be given is named, with what is expected."""

import pytest

from course_grader.options import export_parser, parser
from course_grader.reports.lateness import Policy

GIVEN = ["class", "--output", "grades"]


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--allow", "9.99", "there is no exercise '9.99'; expected one such as 4.2"),
        ("--allow", "1,4", "there is no exercise '1,4'; expected one such as 4.2"),
        ("--time-limit", "nan", "'nan' is not a time; expected seconds, more than 0"),
        ("--time-limit", "-1", "'-1' is not a time"),
        ("--time-limit", "inf", "'inf' is not a time"),
        ("--cell-limit", "0", "'0' is not a time"),
        ("--cell-limit", "soon", "'soon' is not a time"),
        ("--jobs", "0", "'0' is not a whole number of at least 1"),
        ("--jobs", "1.5", "'1.5' is not a whole number"),
        ("--jobs", "²", "'²' is not a whole number"),
        ("--due", "2026-11-30", "'2026-11-30' is not a date with a time; expected 2026-11-30T23:59"),
        ("--late", "10%", "'10%' is not a policy; expected \"10% per day\""),
    ],
)
def test_refused(option, value, said, capsys):
    with pytest.raises(SystemExit) as ended:
        parser().parse_args([*GIVEN, f"{option}={value}"])
    assert ended.value.code == 2 and f"argument {option}: {said}" in capsys.readouterr().err


def test_taken():
    given = parser().parse_args(
        [*GIVEN, "--allow", "1.4", "--allow", "5.9", "--late", "10% per day", "--due", "2026-11-30T23:59Z"]
    )
    assert given.allow == ["1.4", "5.9"] and given.late == Policy(10) and given.due.year == 2026
    assert given.time_limit is None and given.jobs >= 1


def test_no_deadline_is_another_thing_than_to_lift_one():
    assert "due" not in parser().parse_args(GIVEN) and parser().parse_args([*GIVEN, "--due", "none"]).due is None


def test_export(capsys):
    given = export_parser().parse_args(["grades", "--format", "moodle", "--output", "x.csv", "--lesson", "5"])
    assert (given.format, given.lesson) == ("moodle", "05")
    with pytest.raises(SystemExit):
        export_parser().parse_args(["grades", "--format", "excel", "--output", "x.csv"])
    assert "'canvas'" in capsys.readouterr().err
