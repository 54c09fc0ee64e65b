"""What an earlier run was told stays, lesson by lesson."""

import pytest

from course_grader.reports.class_settings import FILE, ClassOptions, ClassSettings, load_class_settings
from course_grader.reports.lateness import parse_due, parse_policy
from course_grader.reports.roster import Person

FIRST, SECOND, POLICY = parse_due("2026-11-01T12:00"), parse_due("2026-11-08T12:00"), parse_policy("10% per day")


def test_each_lesson_has_its_own_deadline():
    record = (
        ClassSettings()
        .updated(ClassOptions(due=FIRST, policy=POLICY), ["01"])
        .updated(ClassOptions(due=SECOND), ["02"])
    )
    assert {lesson: (one.due, one.policy) for lesson, one in record.deadlines.items()} == {
        "01": (FIRST, POLICY),
        "02": (SECOND, None),
    }
    assert record.updated(ClassOptions(), ["01", "02"]) == record
    assert record.updated(ClassOptions(policy=POLICY), ["02"]).deadlines["02"].policy == POLICY
    assert set(record.updated(ClassOptions(no_due=True), ["01"]).deadlines) == {"02"}


def test_it_is_read_as_it_was_written(tmp_path):
    people = (Person("1", "a@x.edu", "王"),)
    record = ClassSettings().updated(ClassOptions(due=FIRST, policy=POLICY, roster=people), ["01"])
    (tmp_path / FILE).write_text(record.dumps())
    assert load_class_settings(tmp_path) == record
    assert load_class_settings(tmp_path / "nothing here") == ClassSettings()


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"deadlines": {"01": 1}, "roster": null}'])
def test_a_damaged_one_is_said_with_the_mend(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(ValueError, match="class.json is damaged .* Delete it"):
        load_class_settings(tmp_path)
