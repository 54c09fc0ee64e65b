"""Points of results, deadlines and overrides, put together; numbers worked by hand."""

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest
from reported import exercise

from course_checks.catalogue import catalogue
from course_grader.reports import class_settings, overrides
from course_grader.reports.class_settings import ClassOptions, ClassSettings, Deadline, load_class_settings
from course_grader.reports.lateness import days_late, describe_due, parse_due, parse_policy
from course_grader.reports.overrides import TEMPLATE, Override, read_overrides
from course_grader.reports.roster import Person

DUE = parse_due("2026-11-30T23:59:00+00:00")
TWO_DAYS_LATE = DUE.timestamp() + 86_400 + 60
POLICY = parse_policy("10% per day, at most 3 days")


@pytest.fixture(autouse=True)
def a_tenth(monkeypatch):
    """A lesson with ten exercises, whatever the course has just now."""
    monkeypatch.setitem(catalogue(), "5.10", dataclasses.replace(catalogue()["5.2"], number="5.10"))


def by_name(book):
    return {student.name: student for student in book.students}


def test_of_one_student_in_two_folders_the_newer_file_counts(a_class):
    a_class.add("annlee", exercise("1.1"), modified=2.0).add("Ann Lee_7", exercise("1.1", "wrong"), modified=1.0)
    (ann,) = a_class.write_reports(roster=(Person("1", "", "Ann Lee", user="annlee"),)).students
    assert ann.total == 2 and "handed in as Ann Lee_7, annlee" in ann.notes
    assert any("counts, since it is newer" in note for note in ann.notes)


def test_a_file_that_does_not_count_gives_nothing_but_its_note(a_class):
    a_class.add("ann", exercise("1.1"), label="old.ipynb", counts=False, note="not graded, since x counts")
    (ann,) = a_class.write_reports().students
    assert ann.total is None and ann.notes == ["old.ipynb: not graded, since x counts"]


def test_everyone_of_the_roster_has_a_row_and_strangers_stand_at_the_end(a_class):
    a_class.add("zoe", exercise("1.1")).add("Ann Lee_7", exercise("1.1"))
    book = a_class.write_reports(roster=(Person("1", "", "Never There"), Person("2", "", "Ann Lee")))
    assert [student.name for student in book.students] == ["Never There 1", "Ann Lee_7", "zoe"]
    assert book.students[0].notes == ["nothing handed in"] and not book.students[0].files
    assert book.students[2].notes == ["not on the roster"]
    assert by_name(a_class.write_reports()).keys() == by_name(book).keys()  # the roster stays until another is given


def test_late_points(a_class):
    a_class.add("ann", exercise("1.1"), exercise("1.2"), modified=TWO_DAYS_LATE)
    a_class.add("bob", exercise("1.1"), modified=DUE.timestamp())
    a_class.add("carl", exercise("1.1"), modified=0.0)
    book = by_name(a_class.write_reports(due=DUE, policy=POLICY))
    ann = book["ann"].work["01"]
    assert (ann.earned, ann.days, ann.points, book["ann"].total) == (5, 2, 4, 4)
    assert (book["bob"].work["01"].days, book["bob"].total) == (0, 2)
    assert book["carl"].total == 2 and "lateness was not judged" in book["carl"].notes[0]


def test_hands_have_the_last_word(a_class):
    for student in ("ann", "bob", "carl", "dora"):
        a_class.add(student, exercise("1.1", "wrong"), exercise("1.2"), modified=TWO_DAYS_LATE)
    a_class.overrides(
        "ann,1.1,2,,", "bob,lesson 01,4,,", "carl,lesson 01,,2026-12-04T12:00+00:00,ill", "dora,1.2,,,nice"
    )
    book = by_name(a_class.write_reports(due=DUE, policy=POLICY))
    mark = book["ann"].work["01"].marks["1.1"]
    assert (mark.earned, mark.before, mark.status) == (2, 0, "by hand (was wrong)") and book["ann"].total == 4
    assert (book["bob"].total, book["bob"].work["01"].earned) == (4, 3)
    assert (book["carl"].total, book["carl"].work["01"].days, book["carl"].work["01"].comment) == (3, 0, "ill")
    assert (book["dora"].total, book["dora"].work["01"].marks["1.2"].comment) == (2.4, "nice")


GROUPS = tuple(
    Person(str(i), "", name, group=group)
    for i, (name, group) in enumerate({"Ann": "A", "Bob": "A, B", "Cy": ""}.items())
)


def test_a_deadline_of_a_group(a_class):
    for student in ("Ann", "Bob", "Cy"):
        a_class.add(student, exercise("1.2"), modified=TWO_DAYS_LATE)
    rows = [f"group {group},lesson 01,,2026-12-0{day}T12:00+00:00,ill" for group, day in (("B", 3), ("A", 1))]
    days = [
        student.work["01"].days for student in a_class.overrides(*rows).write_reports(roster=GROUPS, due=DUE).students
    ]
    assert days == [1, 0, 2]  # who is in both has the later one
    assert "lesson 01: due 2026-12-03 12:00 (UTC+00:00). ill" in a_class.read("grades.csv")
    a_class.overrides(*rows, "Bob,lesson 01,,2026-11-30T12:00+00:00,").write_reports()
    assert "due 2026-11-30 12:00" in a_class.read("grades.csv")  # the student's own row has the last word
    a_class.add("group A", exercise("1.2"), modified=TWO_DAYS_LATE).overrides(*rows[1:])
    assert [student.work["01"].days for student in a_class.write_reports().students] == [2, 2, 2, 1]  # a folder's name


@pytest.mark.parametrize(
    ("row", "roster", "message"),
    [
        (
            "group C,lesson 01,,2026-12-01T12:00,",
            GROUPS,
            r"line 2: student is 'group C'; expected a group of the roster \(A, B\)",
        ),
        ("group A,lesson 01,,2026-12-01T12:00,", None, r"expected a group of the roster \(none: it needs a column"),
        ("group A,1.2,1,,", GROUPS, "line 2: 'group A' is a group; expected a due for a lesson, and points for single"),
        ("group A,lesson 01,4,,", GROUPS, "'group A' is a group"),
    ],
)
def test_a_row_about_no_group(a_class, row, roster, message):
    a_class.add("Ann", exercise("1.2")).overrides(row)
    with pytest.raises(ValueError, match=message):
        a_class.write_reports(roster=roster)


def test_points_for_who_handed_in_on_paper(a_class):
    a_class.add("ann", exercise("1.1")).overrides("2,lesson 02,7,,")
    book = a_class.write_reports(roster=(Person("1", "", "Ann"), Person("2", "", "Bob")))
    assert by_name(book)["Bob 2"].total == 7 and list(book.lessons) == ["01", "02"]
    assert list(book.lessons["01"]) == ["1.1"]


@pytest.mark.parametrize(
    ("row", "message"),
    [("an,1.1,1,,", "student is 'an'; .* is it 'ann'"), ("Li Wei,1.1,1,,", "fits Li Wei 1, Li Wei 2")],
)
def test_an_override_about_nobody_or_two(a_class, row, message):
    a_class.add("ann", exercise("1.1")).overrides(row)
    with pytest.raises(ValueError, match=message):
        a_class.write_reports(roster=(Person("1", "", "Li Wei"), Person("2", "", "Li Wei")))


def test_what_should_be_looked_at_is_told_whole(a_class):
    reasons = [f"answer 1.1, line {line}: `eval(...)`" for line in range(200)]
    a_class.add("ann", exercise("1.1"), noticed=reasons, review=True)
    a_class.add("bob", exercise("1.1"), noticed=["harmless"])
    a_class.add("carl", lesson="", problem="could not be graded: KeyError", review=True)
    book = by_name(a_class.write_reports())
    assert [reason for _, reason in book["ann"].review] == reasons and not book["bob"].review
    assert [reason for _, reason in book["carl"].review] == ["could not be graded: KeyError"]


def test_exercises_stand_in_the_order_of_the_lesson(a_class):
    a_class.add("ann", *(exercise(number, lesson="05") for number in ("5.10", "5.9", "5.1")), lesson="05")
    assert list(a_class.write_reports().lessons["05"]) == ["5.1", "5.9", "5.10"]


DUE_IN_CHINA = parse_due("2026-11-30T23:59+08:00")


def test_a_deadline_has_a_time_zone():
    assert describe_due(DUE_IN_CHINA) == "2026-11-30 23:59 (UTC+08:00)" and DUE_IN_CHINA.astimezone(UTC).hour == 15
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
    minute = DUE_IN_CHINA.replace(second=0)
    assert days_late(DUE_IN_CHINA, (minute + timedelta(seconds=after)).timestamp()) == days


@pytest.mark.parametrize("no_date", [0.0, 315_532_800.0])  # none; 1980, where a ZIP file knows no better
def test_without_a_date_nobody_is_late(no_date):
    assert days_late(DUE_IN_CHINA, no_date) is None


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


FIRST, SECOND = parse_due("2026-11-01T12:00"), parse_due("2026-11-08T12:00")


def test_each_lesson_has_its_own_deadline():
    settings = ClassSettings().updated(ClassOptions(due=FIRST, policy=POLICY), ["01"])
    settings = settings.updated(ClassOptions(due=SECOND), ["02"])
    assert settings.deadlines == {"01": Deadline(FIRST, POLICY), "02": Deadline(SECOND)}
    assert settings.updated(ClassOptions(), ["01", "02"]) == settings
    assert settings.updated(ClassOptions(policy=POLICY), ["02"]).deadlines["02"].policy == POLICY
    assert set(settings.updated(ClassOptions("none"), ["01"]).deadlines) == {"02"}


def test_it_is_read_as_it_was_written(tmp_path):
    people = (Person("1", "a@x.edu", "王"),)
    settings = ClassSettings().updated(ClassOptions(due=FIRST, policy=POLICY, roster=people), ["01"])
    (tmp_path / class_settings.FILE).write_text(settings.dumps())
    assert load_class_settings(tmp_path) == settings
    assert load_class_settings(tmp_path / "nothing here") == ClassSettings()


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"deadlines": {"01": 1}, "roster": null}'])
def test_a_damaged_one_is_said_with_the_mend(tmp_path, text):
    (tmp_path / class_settings.FILE).write_text(text)
    with pytest.raises(ValueError, match="class.json is damaged .* Delete it"):
        load_class_settings(tmp_path)


HEADER = "student,exercise,points,due,comment\n"


def write(tmp_path, text):
    (tmp_path / overrides.FILE).write_text(text, encoding="utf-8")
    return tmp_path


def test_rows(tmp_path):
    rows = "ann,5.2,3,,\nann,lesson 05,,2026-12-02T23:59+01:00,\n#bob,5.2,1,,\n\n王,exercise 5.10,0,,很好\nbob,5,15,,oral\n"
    rows_read = read_overrides(write(tmp_path, HEADER + rows))
    assert rows_read[0] == Override(2, "ann", "05", "5.2", 3.0)
    assert (rows_read[1].lesson, rows_read[1].exercise, rows_read[1].points, rows_read[1].due.day) == (
        "05",
        "",
        None,
        2,
    )
    assert rows_read[2] == Override(6, "王", "05", "5.10", 0.0, None, "很好")
    assert rows_read[3] == Override(7, "bob", "05", "", 15.0, None, "oral")


def test_the_template_holds_no_row_and_each_of_its_examples_is_one(tmp_path):
    assert read_overrides(tmp_path) == [] == read_overrides(write(tmp_path, TEMPLATE.read_text()))
    header, hint, *examples = TEMPLATE.read_text().splitlines()
    text = "\n".join([header, *(line.removeprefix("# ") for line in examples)])
    assert "begin with #" in hint
    assert len(read_overrides(write(tmp_path, text.replace("ann,lesson 05,,", "bob,lesson 05,,")))) == 5


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (",5.2,1,,", "student is empty"),
        ("ann,5.99,1,,", "exercise is '5.99'; expected an exercise such as 5.2 or a lesson"),
        ("ann,5.1,1,,", "'5.1', which a spreadsheet makes of 5.10 too; expected 'exercise 5.1'"),
        ("ann,5.2,four,,", "points is 'four'; expected a number from 0 to 3"),
        ("ann,5.2,nan,,", "points is 'nan'"),
        ("ann,5.2,,2026-12-02T23:59,", "due stands beside exercise 5.2"),
        ("ann,lesson 05,,soon,", "'soon' is not a date with a time"),
        ("ann,5.2,,,", "points, due and comment are all empty"),
        ("ann,1.1,2,,", "line 2 is about the same"),
    ],
)
def test_a_mistyped_row_names_line_value_and_what_was_expected(tmp_path, row, message):
    with pytest.raises(ValueError, match=rf"overrides \(.*overrides.csv\), line 3: .*{message}"):
        read_overrides(write(tmp_path, f"{HEADER}ann,1.1,1,,\n{row}\n"))


@pytest.mark.parametrize("header", ["student,points\n", "student,exercise,punkte\n"])
def test_a_header_of_other_names(tmp_path, header):
    with pytest.raises(ValueError, match="expected student, exercise, points, due, comment"):
        read_overrides(write(tmp_path, header + "ann,1\n"))
