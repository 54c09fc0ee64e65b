"""The worked solution, and what edits of its text make of it."""

import pytest

from course_checks.deciding.solution import Solution, edited


def test_a_solution_runs_with_what_stands_before_it_and_a_few_imports():
    solution = Solution("twice", "import itertools\nFACTOR = 2", "def twice(x):\n    return torch.tensor(FACTOR * x)")
    assert solution.answer()(3).item() == 6
    assert solution.answer(solution.text.replace("FACTOR", "math.pi"))(1).item() == pytest.approx(3.14159)


def test_a_solution_may_be_a_class():
    assert isinstance(Solution("Layer", "", "class Layer(nn.Module):\n    pass").answer(), type)


def test_a_text_that_is_not_python():
    with pytest.raises(SyntaxError):
        Solution("twice", "", "def twice(x) return x").answer()


def test_edits_follow_one_another_and_each_must_apply():
    assert edited("a + a", {"a": "b", "b + b": "c"}) == "c"
    assert edited("a + a", {"a": "b", "a + a": "c"}) is None
    assert edited("a", {}) == "a"


def test_the_build_carried_the_solutions():
    assert Solution.of("5.2", "causal_mask").answer()(2, 3).tolist() == [[True, True, False], [True] * 3]
