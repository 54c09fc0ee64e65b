"""Deadlines and policies, worked by hand."""

from datetime import UTC, datetime, timedelta

import pytest

from course_grader.reports.lateness import days_late, describe_due, parse_due, parse_policy

DUE = parse_due("2026-11-30T23:59+08:00")


def test_a_deadline_has_a_time_zone():
    assert describe_due(DUE) == "2026-11-30 23:59 (UTC+08:00)" and DUE.astimezone(UTC).hour == 15
    local = parse_due("2026-11-30T23:59")
    assert local.utcoffset() == datetime(2026, 11, 30, 23, 59).astimezone().utcoffset()
    assert parse_due("2026-11-30 23:59:00Z").second == 0


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-11-30", "23:59", "30.11.2026 23:59", "2026-13-01T00:00"])
def test_what_is_no_deadline(text):
    with pytest.raises(ValueError, match="is not a date with a time; expected 2026-11-30T23:59"):
        parse_due(text)


@pytest.mark.parametrize(
    ("after", "days"), [(-60, 0), (0, 0), (59, 0), (60, 1), (86_400, 1), (86_460, 2), (3 * 86_400 + 60, 4)]
)
def test_begun_days_count_and_the_last_minute_is_in_time(after, days):
    minute = DUE.replace(second=0)
    assert days_late(DUE, (minute + timedelta(seconds=after)).timestamp()) == days


@pytest.mark.parametrize("no_date", [0.0, 315_532_800.0])  # none; 1980, where a ZIP file knows no better
def test_without_a_date_nobody_is_late(no_date):
    assert days_late(DUE, no_date) is None


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ("10% per day", [10, 9, 8, 7, 6, 0]),
        ("10% per day, at most 3 days", [10, 9, 8, 7, 0, 0]),
        ("10% per begun day at most 30%", [10, 9, 8, 7, 7, 7]),
        ("2.5 % per day", [10, 9.75, 9.5, 9.25, 9, 5]),
        ("100% per day", [10, 0, 0, 0, 0, 0]),
    ],
)
def test_what_is_kept(policy, kept):
    parsed = parse_policy(policy)
    assert [parsed.kept(10, days) for days in (0, 1, 2, 3, 4, 20)] == kept
    assert parse_policy(str(parsed)) == parsed


@pytest.mark.parametrize("text", ["10%", "10 per day", "ten % per day", "110% per day", "10% per day, at most three"])
def test_what_is_no_policy(text):
    with pytest.raises(ValueError, match=f"'{text}' is not a policy; expected \"10% per day\""):
        parse_policy(text)
