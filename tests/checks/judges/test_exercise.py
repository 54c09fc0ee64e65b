"""Entries: parts and faults of functions and of classes, cases with labels, quizzes."""

import copy

import pytest
import torch

from course_utils.checks.catalogue import listed
from course_utils.checks.judges.exercise import Case, Exercise, Fault, Quiz
from course_utils.checks.judges.find import find


def halves(x, *, factor=0.5, add=0.0):
    return factor * x + add


def an_exercise(**changes):
    given = {
        "answer": "dot",
        "cases": lambda seed: [Case(x=torch.ones(2))],
        "reference": halves,
        "returns": ("half",),
        "faults": (
            Fault("doubled", "twice x.", "halve.", factor=2.0),
            Fault("one more", "one more.", "leave it out.", add=1.0),
        ),
        "advice": "halve.",
        "listed": listed("1.1"),
    }
    return Exercise(**given | changes)


def test_a_fault_replaces_a_part_and_two_faults_two():
    exercise = an_exercise()
    doubled, one_more = exercise.faults
    x = torch.ones(2)
    assert exercise.with_parts()(x).tolist() == [0.5, 0.5]
    assert exercise.with_faults(doubled)(x).tolist() == [2.0, 2.0]
    assert exercise.with_faults(doubled, one_more)(x).tolist() == [3.0, 3.0]


def test_a_whole_answer_can_be_a_fault():
    zero = Fault("zero", "0.", "halve.", whole=lambda x: 0 * x)
    assert an_exercise().with_faults(zero)(torch.ones(2)).tolist() == [0.0, 0.0]


def test_the_parts_of_a_class():
    """4.6 asks for a class: its reference makes one of its parts."""
    exercise = find("4.6")
    assert exercise.probe.expects == "class" and isinstance(exercise.with_parts(), type)


@pytest.mark.parametrize("given", [{}, {"whole": len, "factor": 2.0}])
def test_a_fault_is_of_parts_or_whole(given):
    with pytest.raises(ValueError, match="fault 'broken': give parts or whole"):
        Fault("broken", "x.", "y.", **given)


def test_two_faults_of_one_name_are_an_authors_mistake():
    with pytest.raises(ValueError, match="dot: two faults are called same"):
        an_exercise(faults=(Fault("same", "x.", "y.", factor=1.0), Fault("same", "x.", "y.", factor=2.0)))


def test_number_title_and_points_come_from_the_catalogue():
    exercise = an_exercise()
    assert (exercise.number, exercise.title, exercise.points) == ("1.1", listed("1.1").title, 2)


def test_a_case_is_its_arguments_and_keeps_its_labels_when_copied():
    case = Case("ties", values_only=True, x=[1, 2])
    assert dict(case) == {"x": [1, 2], "_values_only": True}
    other = copy.deepcopy(case)
    assert other == case and other.labels == ("ties",) and other["x"] is not case["x"]


def test_a_quiz_without_a_right_option_cannot_be_made():
    with pytest.raises(ValueError, match="'z'.*a, b"):
        Quiz("z", {"a": "why", "b": "why not"})
