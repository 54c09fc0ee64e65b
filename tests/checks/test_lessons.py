"""What the check files say is what the exercise sources say: numbers, titles, points, quiz options."""

import re

import pytest

from course_authoring.build import read_sources
from course_utils.checks.engine import all_entries
from course_utils.checks.exercise import Quiz
from course_utils.checks.off_limits import resolve

ENTRIES = all_entries()


@pytest.fixture(scope="module")
def sources(root):
    found, errors = read_sources(root)
    assert not errors
    return {exercise.number: (source, exercise) for source in found for exercise in source.exercises}


def test_every_exercise_has_an_entry_and_every_entry_an_exercise(sources):
    assert sorted(sources) == sorted(ENTRIES)


@pytest.mark.parametrize("number", ENTRIES)
def test_titles_and_points_agree(sources, number):
    _, exercise = sources[number]
    assert (exercise.title, exercise.points) == (ENTRIES[number].title, ENTRIES[number].points)


@pytest.mark.parametrize("number", [n for n, e in ENTRIES.items() if isinstance(e, Quiz)])
def test_quiz_options_read_as_in_the_notebook(sources, number):
    _, exercise = sources[number]
    shown = dict(re.findall(r"^- \*\*([a-z])\.\*\* (.+)$", exercise.heading.text, re.MULTILINE))
    assert shown == {letter: option.text for letter, option in ENTRIES[number].options.items()}


@pytest.mark.parametrize("number", [n for n, e in ENTRIES.items() if not isinstance(e, Quiz)])
def test_everything_off_limits_exists(number):
    for name in ENTRIES[number].off_limits:
        assert callable(resolve(name))
