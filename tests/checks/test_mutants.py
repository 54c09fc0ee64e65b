"""The kill score: every known mistake refused with its own sentence, every right answer accepted."""

import dataclasses

import pytest

from course_utils.checks.engine import SEED, all_entries
from course_utils.checks.exercise import Exercise, Option, Quiz
from course_utils.checks.mutants import table, trials

ENTRIES = all_entries()


# For all of them the seed of the notebooks; one more here, and one more in test_process_border.py.
@pytest.mark.parametrize("seed", [SEED, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("number", ENTRIES)
def test_every_known_answer_is_judged_as_it_should_be(number, seed):
    wrong = [trial for trial in trials(ENTRIES[number], seed) if not trial.holds]
    assert not wrong, wrong


@pytest.mark.parametrize("number", [n for n, e in ENTRIES.items() if isinstance(e, Exercise)])
def test_every_exercise_knows_mistakes_and_other_right_answers(number):
    entry = ENTRIES[number]
    assert len(entry.mistakes) >= 3 and len(entry.alternatives) >= 2
    names = [known.name for known in (*entry.mistakes, *entry.alternatives)]
    assert len(names) == len(set(names))
    for mistake in entry.mistakes:
        assert all(text.rstrip(")\"'").endswith(".") for text in (mistake.looks_like, mistake.advice)), mistake.name


def test_the_table_counts_and_would_notice():
    entry = ENTRIES["1.1"]
    text, whole = table([entry, ENTRIES["5.1"]])
    assert whole and "(100 %)" in text
    wrong = dataclasses.replace(entry, reference=entry.mistakes[0].implementation)
    assert not table([wrong])[1]


def test_a_quiz_without_a_right_option_cannot_be_made():
    with pytest.raises(ValueError, match=r"quiz 9\.9.*'z'"):
        Quiz("9.9", "broken", 1, {"a": Option("text", "why")}, right="z")
