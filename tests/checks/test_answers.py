"""Recorded answers of people who had the statement alone, held as rates: ``make answers`` prints them.

Every wrong answer is refused, every right one accepted, and nearly all wrong ones are told something specific. A sample
runs in ``make test``, all of it and other seeds in ``make test-slow``.
"""

import dataclasses

import pytest
import recorded_answers
from recorded_answers import recorded_answers as answers_to
from recorded_answers import share_specific, table, trials

from course_checks.catalogue import catalogue
from course_checks.deciding.exercise import Exercise
from course_checks.deciding.experiment import Experiment
from course_checks.deciding.find import find
from course_checks.deciding.solution import Solution

CODING = [number for number, entry in catalogue().items() if not entry.is_quiz]
LESSONS = sorted({number.split(".")[0] for number in CODING}, key=int)
SPECIFIC, IN_EACH_LESSON = 0.95, 0.88


def of_lesson(lesson):
    return [number for number in CODING if number.split(".")[0] == lesson]


def not_held(done):
    return [f"{trial.answer.number} {trial.answer.kind}: {trial.answer.about}" for trial in done if not trial.holds]


SAMPLE = [number for number in CODING if number.endswith(".1") or isinstance(find(number), Experiment)]


@pytest.mark.parametrize("number", SAMPLE)
def test_a_sample_is_refused_or_accepted_as_it_should_be(number):
    assert not_held(trials(number)) == []


@pytest.mark.slow
def test_all_are_and_nearly_all_wrong_ones_are_told_something_specific():
    done = [trial for number in CODING for trial in trials(number)]
    assert not_held(done) == []
    assert share_specific(done) >= SPECIFIC, table(done)
    for lesson in LESSONS:
        of_it = [trial for trial in done if trial.answer.number.split(".")[0] == lesson]
        assert share_specific(of_it) >= IN_EACH_LESSON, table(of_it)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
def test_other_cases_of_the_grader(lesson):
    assert not_held([trial for number in of_lesson(lesson) for trial in trials(number, seed=1)]) == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_has_wrong_and_right_answers(lesson):
    for number in of_lesson(lesson):
        if isinstance(find(number), Exercise):
            right = [answer.is_right for answer in answers_to(number)]
            assert right.count(False) >= 3 and right.count(True) >= 1, number


def test_a_setup_stands_before_those_that_follow_it(tmp_path):
    (tmp_path / "lesson_05").mkdir()
    text = "# %% setup\nimport torch\n\n# %% wrong: one\na = 1\n\n# %% setup\nimport math\n\n# %% right: two\nb = 2\n"
    (tmp_path / "lesson_05" / "causal_mask.py").write_text(text)
    first, second = answers_to("5.2", tmp_path)
    assert (first.kind, first.about, first.text.split()) == ("wrong", "one", ["import", "torch", "a", "=", "1"])
    assert second.is_right and second.text.split() == ["import", "math", "b", "=", "2"]
    assert list(answers_to("5.1", tmp_path)) == []


def test_the_table_would_notice(monkeypatch):
    exercise = find("5.2")
    right = sum(answer.is_right for answer in answers_to("5.2"))
    assert table(trials("5.2")).splitlines()[1].split()[:4] == ["5", f"{right}", "of", f"{right}"]
    broken = dataclasses.replace(exercise, mistakes=[])
    wrong = exercise.known_mistakes[0].on(exercise.solution.text)
    broken.__dict__["solution"] = Solution(exercise.solution.name, exercise.solution.before, wrong)
    monkeypatch.setattr(recorded_answers, "find", lambda number: broken)
    done = trials("5.2")
    assert any(line.startswith("  5.2 right") for line in table(done).splitlines())
    assert any(line.startswith("  5.2 wrong") and line.endswith("right") for line in table(done).splitlines())
    assert share_specific(done) < 1
