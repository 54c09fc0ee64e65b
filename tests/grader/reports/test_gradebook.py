"""Points of results, deadlines and hands, put together; numbers worked by hand."""

import dataclasses

import pytest
from reported import exercise

from course_checks.catalogue import catalogue
from course_grader.reports.lateness import parse_due, parse_policy
from course_grader.reports.roster import Person

DUE = parse_due("2026-11-30T23:59:00+00:00")
TWO_DAYS_LATE = DUE.timestamp() + 86_400 + 60
POLICY = parse_policy("10% per day, at most 3 days")


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
    assert ann.total == 0 and ann.notes == ["old.ipynb: not graded, since x counts"]


def test_everyone_of_the_roster_has_a_row_and_strangers_stand_at_the_end(a_class):
    a_class.add("zoe", exercise("1.1")).add("Ann Lee_7", exercise("1.1"))
    book = a_class.write_reports(roster=(Person("1", "", "Never There"), Person("2", "", "Ann Lee")))
    assert [student.name for student in book.students] == ["Never There 1", "Ann Lee_7", "zoe"]
    assert book.students[0].notes == ["nothing handed in"] and not book.students[0].handed_in
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


def test_points_for_who_handed_in_on_paper(a_class):
    a_class.add("ann", exercise("1.1")).overrides("2,lesson 02,7,,")
    book = a_class.write_reports(roster=(Person("1", "", "Ann"), Person("2", "", "Bob")))
    assert by_name(book)["Bob 2"].total == 7 and list(book.lessons) == ["01", "02"]
    assert list(book.lessons["01"]) == ["1.1"]


@pytest.mark.parametrize(
    ("row", "said"), [("an,1.1,1,,", "student is 'an'; .* is it 'ann'"), ("Li Wei,1.1,1,,", "fits Li Wei 1, Li Wei 2")]
)
def test_an_override_about_nobody_or_two(a_class, row, said):
    a_class.add("ann", exercise("1.1")).overrides(row)
    with pytest.raises(ValueError, match=said):
        a_class.write_reports(roster=(Person("1", "", "Li Wei"), Person("2", "", "Li Wei")))


def test_what_should_be_looked_at_is_told_whole(a_class):
    reasons = [f"answer 1.1, line {line}: `eval(...)`" for line in range(200)]
    a_class.add("ann", exercise("1.1"), noticed=reasons, review=True)
    a_class.add("bob", exercise("1.1"), noticed=["harmless"])
    a_class.add("carl", lesson="", problem="could not be graded: KeyError", review=True)
    book = by_name(a_class.write_reports())
    assert [reason.text for reason in book["ann"].review] == reasons and not book["bob"].review
    assert [reason.text for reason in book["carl"].review] == ["could not be graded: KeyError"]


def test_exercises_stand_in_the_order_of_the_lesson(a_class, monkeypatch):
    monkeypatch.setitem(catalogue(), "5.10", dataclasses.replace(catalogue()["5.9"], number="5.10"))
    a_class.add("ann", *(exercise(number, lesson="05") for number in ("5.10", "5.9", "5.1")), lesson="05")
    assert list(a_class.write_reports().lessons["05"]) == ["5.1", "5.9", "5.10"]
