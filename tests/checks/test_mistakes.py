"""Every known mistake applies to the worked solution, is refused, and is told by its own sentence."""

import pytest

from course_checks.catalogue import catalogue
from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.exercise import Exercise
from course_checks.deciding.find import find
from course_checks.engine import SEED, run
from course_checks.running.observe import observe

SLOW = {"2.4", "4.5", "7.6", "7.7"}
CODING = [number for number, entry in catalogue().items() if not entry.is_quiz]
QUIZZES = [number for number, entry in catalogue().items() if entry.is_quiz]


@pytest.mark.parametrize("number", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in CODING])
def test_the_solution_passes_and_each_mistake_is_told_by_its_own_sentence(number):
    exercise = find(number)
    if not isinstance(exercise, Exercise):
        pytest.skip("an experiment: its claims are tested with its lesson")
    cases = cases_of(exercise, SEED)
    decide = decider(exercise, cases)

    def verdict(answer):
        return decide(observe(answer, cases, exercise.call, trusted=True))

    assert verdict(exercise.right).passed
    wrong = {known.looks_like: exercise.wrong(known) for known in exercise.known_mistakes}
    assert [sentence for sentence, answer in wrong.items() if answer is None] == []  # each of them applies
    verdicts = {sentence: verdict(answer) for sentence, answer in wrong.items()}
    assert [sentence for sentence, decided in verdicts.items() if decided.passed] == []
    assert {sentence: decided.looks_like for sentence, decided in verdicts.items()} == {s: s for s in wrong}


@pytest.mark.parametrize("number", QUIZZES)
def test_a_quiz_accepts_its_right_letter_alone_and_explains_each(number):
    quiz = find(number)
    verdicts = {letter: run(quiz, letter) for letter in quiz.explanations}
    assert [letter for letter, verdict in verdicts.items() if verdict.passed] == [quiz.right]
    assert verdicts[quiz.right].explanation.endswith(".") and len(verdicts) >= 3
    for letter, verdict in verdicts.items():
        if letter != quiz.right:
            assert (
                verdict.mistake == letter and verdict.what.startswith(f"Not {letter}: ") and verdict.what.endswith(".")
            )
