"""What an exercise's file says: solution, known mistakes as edits of it, alone and together, and how answers are called."""

import pytest
import torch
from toy_exercises import exercise

from course_checks.deciding.exercise import Case, mistake
from course_checks.deciding.solution import Solution, edited
from course_checks.running.call import Call
from course_checks.running.encode import encode

TEXT = "def toy(x):\n    half = x / 2\n    return half + 1"
DOUBLED = mistake("twice x.", "halve.", {"x / 2": "2 * x"})
BARE = mistake("1 is missing.", "add it.", {" + 1": ""})
NEGATIVE = mistake("the sign.", "turn it.", then=torch.neg)
TOY = exercise(TEXT, [Case(x=torch.ones(2))])


def made(*some):
    answer = TOY.wrong(*some)
    return answer and answer(torch.tensor(4.0)).item()


def test_a_mistake_is_the_solution_with_an_edit():
    assert TOY.right(torch.tensor(4.0)) == 3
    assert (made(DOUBLED), made(BARE), made(NEGATIVE)) == (9, 2, -3)
    assert made(mistake("0.", "halve.", instead=lambda x: 0 * x)) == 0


def test_an_edit_that_does_not_apply_or_is_not_python_makes_no_answer():
    assert made(mistake("a.", "", {"x / 3": "x"})) is None
    assert made(mistake("a.", "", {"half + 1": "half +"})) is None


def test_two_mistakes_go_together_where_their_order_does_not_matter():
    assert made(DOUBLED, BARE) == made(BARE, DOUBLED) == 8
    assert made(DOUBLED, NEGATIVE) == -9
    assert made(BARE, mistake("a.", "", {"x / 2": "x / 2 + 1"})) is None
    assert made(DOUBLED, mistake("a.", "", {"x / 2": "x"})) is None
    assert made(BARE, mistake("a.", "", {"half + 1": "2 * half + 1"})) is None
    assert made(mistake("a.", "", {"half": "h"}), mistake("b.", "", {"half + 1": "half"})) is None
    assert made(NEGATIVE, mistake("a.", "", then=torch.abs)) is None
    assert made(DOUBLED, mistake("0.", "", instead=len)) is made(mistake("0.", "", instead=len), DOUBLED) is None


@pytest.mark.parametrize("ways", [{}, {"instead": len, "edits": {"a": "b"}}, {"instead": len, "then": len}])
def test_a_mistake_is_edits_or_a_whole_answer(ways):
    with pytest.raises(ValueError, match=r"mistake 'x\.': give edits"):
        mistake("x.", "y.", **ways)


def test_the_mistakes_of_the_source_come_before_those_of_the_file():
    table = [{"looks_like": "twice x.", "advice": "", "edits": DOUBLED.edits}]
    assert exercise(TEXT, [], table=table, mistakes=[BARE]).known_mistakes == [
        mistake("twice x.", "", DOUBLED.edits),
        BARE,
    ]
    with pytest.raises(ValueError, match=r"look alike: twice x\."):
        _ = exercise(TEXT, [], table=table, mistakes=[BARE, DOUBLED]).known_mistakes


def test_how_answers_are_called():
    assert TOY.call == Call()
    turned = exercise(
        TEXT, [], driver="detector", off_limits=["torch.softmax"], gradients=True, twice=False, expects="class"
    )
    assert turned.call == Call("class", "lesson_05.detector", ("torch.softmax",), gradients=True, twice=False)


def test_something_else_than_what_is_returned_may_be_compared():
    toy = exercise(TEXT, [], compared=lambda case, value: sorted(value)[: case.deciding["most"]])
    case = Case(deciding={"most": 2})
    seen = {"outcome": "returned", "value": encode([3, 1, 2]), "again": encode([1, 2, 3])}
    part = toy.compared_part(case, seen)
    assert part["value"] == encode([1, 2]) and "again" not in part  # the second call is the same in what counts
    assert toy.compared_part(case, {**seen, "again": encode([0, 3, 2])})["again"] == encode([0, 2])
    stopped = {"outcome": "raised", "type": "ValueError", "message": "no"}
    assert toy.compared_part(case, stopped) is stopped and TOY.compared_part(case, seen) is seen


def test_a_solution_runs_with_what_stands_before_it_and_a_few_imports():
    solution = Solution("twice", "import itertools\nFACTOR = 2", "def twice(x):\n    return torch.tensor(FACTOR * x)")
    assert solution.answer()(3).item() == 6
    assert solution.answer(solution.text.replace("FACTOR", "math.pi"))(1).item() == pytest.approx(3.14159)


def test_a_text_that_is_not_python():
    with pytest.raises(SyntaxError):
        Solution("twice", "", "def twice(x) return x").answer()


def test_edits_follow_one_another_and_each_must_apply():
    assert edited("a + a", {"a": "b", "b + b": "c"}) == "c"
    assert edited("a + a", {"a": "b", "a + a": "c"}) is None
    assert edited("a", {}) == "a"
