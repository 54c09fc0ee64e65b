"""What exercises there are."""

import pytest

from course_utils.checks.catalogue import catalogue, listed


def test_exercises_and_quizzes():
    entries = catalogue()
    for lesson in {entry.lesson for entry in entries.values()}:
        mine = [entry for entry in entries.values() if entry.lesson == lesson]
        assert [entry.number for entry in mine] == [f"{lesson}.{place}" for place in range(1, len(mine) + 1)]
        assert len(mine) >= 6 and sum(entry.points for entry in mine) >= 15
    causal = entries["5.2"]
    assert (causal.title, causal.points, causal.answer, causal.lesson) == (
        "A causal mask that works with a cache", 3, "causal_mask", 5,
    )  # fmt: skip
    assert all(set(entry.options) >= {"a", "b"} for entry in entries.values() if entry.is_quiz)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("5.99", "lesson 5 has 5.1, 5.2"),
        ("99.1", r'write it as in check\("1.2", answer\)'),
        (5.2, "no exercise 5.2"),
        ("five", "no exercise 'five'"),
    ],
)
def test_a_number_that_is_none(number, words):
    with pytest.raises(ValueError, match=words):
        listed(number)


def test_answers_have_one_name_in_a_lesson():
    names = [(entry.lesson, entry.answer) for entry in catalogue().values()]
    assert len(names) == len(set(names))
