"""No two outcomes look alike."""

from course_grader.reports.outcomes import KINDS, WORDS, words

OUTCOMES = (
    "right, wrong, not attempted, missing, off limits, syntax error, error, time limit, memory, output limit, not reached, "
    "unreadable"
)


def test_each_has_words_of_its_own():
    assert set(WORDS) == set(OUTCOMES.split(", "))
    for part in ("status", "heading"):
        assert len({getattr(found, part) for found in WORDS.values()}) == len(WORDS)
    assert all(found.meaning for name, found in WORDS.items() if name != "right")
    assert {found.kind for found in WORDS.values()} == set(KINDS)


def test_one_that_nobody_listed_is_said_as_it_is():
    assert words("eaten by a dog").heading == "eaten by a dog" and words("eaten by a dog").kind in KINDS
