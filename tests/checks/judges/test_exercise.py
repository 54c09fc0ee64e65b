"""Entries: parts and faults of functions and of classes, cases with labels, quizzes."""

import copy

import pytest
import torch

from course_utils.checks.catalogue import listed
from course_utils.checks.judges.exercise import Case, Exercise, Fault, Quiz
from course_utils.checks.judges.find import find
from course_utils.checks.judges.judge import Judge
from course_utils.checks.probes.codec import encode
from course_utils.checks.probes.probe import carried


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
    """4.4 asks for a class: its reference makes one of its parts."""
    exercise = find("4.4")
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


def test_what_is_compared_may_be_worked_out_beside_the_judge():
    made = an_exercise(notes=lambda case, value: sorted(value)[: case["__most"]])
    seen = {"outcome": "returned", "value": encode([3, 1, 2]), "again": encode([1, 2, 3])}
    noted = made.noted({"__most": 2}, seen)
    assert noted["value"] == encode([1, 2]) and "again" not in noted  # the second call is the same in what counts
    assert made.noted({"__most": 2}, {**seen, "again": encode([0, 3, 2])})["again"] == encode([0, 2])
    assert an_exercise().noted({}, seen) is seen


def test_what_says_what_is_right_stays_with_the_judge():
    """The probes of 11.1 and 11.5 hand over what was returned; a kernel that lies about it must know an answer."""
    inputs = find("11.1").cases(0)
    assert any("__holds" in case for case in inputs) and not any("__holds" in carried(case) for case in inputs)
    for number, forged in (
        (
            "11.1",
            ("lists of places", *["none"] * 4, "alike", "not asked", "about as few as fit", "mixed", "other batches"),
        ),
        ("11.5", ("words and their sounds", "10 or more", *["all of them"] * 4, "5 or more", "differ", "most")),
        ("11.5", "words and their sounds"),
    ):
        entry = find(number)
        inputs = entry.cases(0)
        cases = [{"outcome": "returned", "changed": [], "value": encode(forged)} for _ in inputs]
        try:
            passed = Judge(entry, inputs).verdict({"answer": "called", "type": "x", "cases": cases}).passed
        except (TypeError, AttributeError, IndexError):  # such observations cost their own exercise: judging.mark
            passed = False
        assert not passed
