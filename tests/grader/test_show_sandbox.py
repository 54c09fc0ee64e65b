"""What a submission can see is a list that can be printed."""

from course_grader.__main__ import main
from course_grader.show_sandbox import listing


def test_the_list_of_a_lesson(capsys):
    assert main(["sandbox", "--lesson", "05"]) == 0
    said = capsys.readouterr().out
    assert "  course_utils.masks.padding_mask\n" in said and "  course_utils/masks.py\n" in said
    assert (
        "    5.1  course_utils.masks.causal_mask, course_utils.masks.padding_mask, " in said
        and "    5.9  nothing\n" in said
    )
    assert "deciding/" not in said and "lesson_05.py" in said  # the drivers are there


def test_a_lesson_that_puts_nothing_off_limits():
    assert "  none" in listing({"0.1": frozenset()})


def test_a_lesson_that_is_none(capsys):
    assert main(["sandbox", "--lesson", "77"]) == 2
    assert "lesson 77" in capsys.readouterr().err
