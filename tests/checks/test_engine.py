"""``check`` as students meet it: any answer at all, in plain Python and in IPython."""

import copy
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch

from course_utils.checks import NotYet, check, engine, failing_case
from course_utils.checks.engine import SEED, run
from course_utils.checks.judges.exercise import Exercise, Quiz
from course_utils.checks.judges.experiment import Experiment
from course_utils.checks.judges.find import all_entries, find
from course_utils.checks.judges.judge import cases_of, judge_for
from course_utils.checks.probes import observe_answer
from course_utils.checks.probes.probe import call_in_order, call_turned

ENTRIES = all_entries()
EXERCISES = [entry for entry in ENTRIES.values() if isinstance(entry, Exercise)]
EXPERIMENTS = [entry for entry in ENTRIES.values() if isinstance(entry, Experiment)]
QUIZZES = [entry for entry in ENTRIES.values() if isinstance(entry, Quiz)]


def mutate(*arguments):
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            argument.zero_()
    return arguments[0]


def self_equal(*arguments):
    class SelfEqual:
        def __eq__(self, other):
            return True

        __hash__ = None

    return SelfEqual()


def nan_like(*arguments):
    tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
    return torch.full_like(tensors[0].float(), float("nan")) if tensors else float("nan")


ANSWERS = {
    "None": None,
    "a number": 3,
    "a list": [1, 2],
    "an array": np.ones(3),
    "NaN": float("nan"),
    "a tensor": torch.ones(2),
    "a class": dict,
    "a string": "a, b or c",
    "returns None": lambda *a: None,
    "returns a list": lambda *a: [1.0, 2.0],
    "returns an array": lambda *a: np.ones((2, 3)),
    "returns NaN": nan_like,
    "returns its first argument": lambda *a: a[0],
    "returns zeros": lambda *a: torch.zeros(3),
    "returns meta": lambda *a: torch.zeros(3, device="meta"),
    "returns a generator": lambda *a: (x for x in a),
    "returns a function": lambda *a: len,
    "returns something equal to everything": self_equal,
    "raises": lambda *a: 1 / 0,
    "exits": lambda *a: sys.exit(0),
    "recurses": lambda *a: (f := lambda: f())(),
    "mutates": mutate,
    "takes no arguments": lambda: 1,
    "wrong dtype": lambda *a: torch.ones(2, dtype=torch.int8),
}


@pytest.mark.parametrize(
    "number", [n if n.endswith(".1") else pytest.param(n, marks=pytest.mark.slow) for n in ENTRIES]
)
def test_no_answer_of_any_kind_passes_or_breaks_a_check(number):
    entry = ENTRIES[number]
    inputs = cases_of(entry, SEED)
    judge = judge_for(entry, inputs)
    for name, answer in ANSWERS.items():
        verdict = judge(observe_answer(number, answer, inputs))
        lines = verdict.text(in_notebook=True).split("\n")
        assert not verdict.passed, name
        assert lines[0].startswith(number) and f"0 of {entry.points} point" in lines[0]
        assert len(lines) <= 12 and max(map(len, lines)) <= 90, name


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_check_raises_the_verdict_and_nothing_else(answer):
    for number in ("1.2", "1.7"):
        with pytest.raises(NotYet) as caught:
            check(number, answer)
        message = run(find(number), answer).text(in_notebook=True)
        assert str(caught.value) == message and caught.value._render_traceback_() == message.split("\n")


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.number)
def test_a_right_answer_that_also_mutates_is_refused_and_told(exercise):
    def answer(*arguments):
        result = copy.deepcopy(exercise.with_parts()(*arguments))  # a copy: the result may be a view of an argument
        for argument in arguments:
            if isinstance(argument, torch.Tensor):
                argument.zero_()
            elif isinstance(argument, list | dict):
                argument.clear()
        return result

    if exercise.probe.call not in (call_in_order, call_turned):
        pytest.skip("called in a way of its own")
    if not any(isinstance(value, torch.Tensor | list | dict) for value in exercise.cases(5)[0].values()):
        pytest.skip("has nothing but numbers for arguments")
    verdict = run_unguarded(exercise, answer)
    assert not verdict.passed and "in place" in verdict.text()


def run_unguarded(exercise, answer):
    inputs = exercise.cases(5)
    return judge_for(exercise, inputs)(observe_answer(exercise.number, answer, inputs, guarded=False))


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.number)
def test_a_stub_is_not_attempted_and_the_reference_is_off_limits_or_right(exercise):
    def stub(*arguments):
        raise NotImplementedError

    class Stub:
        def __init__(self, *arguments):
            raise NotImplementedError

    verdict = run(exercise, Stub if exercise.probe.expects == "class" else stub)
    assert not verdict.attempted and "not attempted" in verdict.text()
    assert run_unguarded(exercise, exercise.with_parts()).passed


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.number)
def test_an_experiment_accepts_a_good_run_and_is_not_attempted_while_empty(experiment):
    assert run(experiment, experiment.example()).passed
    assert not run(experiment, {}).attempted
    assert len(experiment.claims) >= 3


@pytest.mark.parametrize("quiz", QUIZZES, ids=lambda q: q.number)
def test_quizzes(quiz, capsys):
    check(quiz.number, f" {quiz.right.upper()} ")
    assert "right" in capsys.readouterr().out
    for letter, explanation in quiz.explanations.items():
        assert explanation.endswith(".")
        if letter != quiz.right:
            verdict = run(quiz, letter)
            assert not verdict.passed and verdict.mistake == letter
    assert not run(quiz, "").attempted and run(quiz, "z").attempted
    assert len(quiz.explanations) >= 3


@pytest.mark.parametrize("number", ["1.99", "99.1", "one", 1.2, None, ""])
def test_an_unknown_number_is_named(number):
    with pytest.raises(ValueError, match="there is no exercise"):
        check(number, len)


def test_an_unknown_number_lists_those_that_exist():
    with pytest.raises(ValueError, match=r"lesson 1 has 1\.1, 1\.2"):
        find("1.99")


def test_the_failing_case_can_be_taken_into_the_hand(monkeypatch):
    monkeypatch.setattr(engine, "_FAILED", {})
    with pytest.raises(LookupError, match="no check has failed"):
        failing_case()
    with pytest.raises(NotYet, match=r"case = failing_case\(\)"):
        check("4.1", lambda query, key, value: (query, key))
    case = failing_case()
    assert list(case) == ["query", "key", "value"] and case["query"].dim() > 1
    case["query"].zero_()
    assert failing_case()["query"].any()  # a copy each time
    with pytest.raises(NotYet) as caught:
        check("4.1", None)  # nothing was called: the case of before stays, and the message does not name it
    assert "failing_case" not in str(caught.value) and failing_case()["key"].shape == case["key"].shape


def test_what_is_handed_out_is_the_case_that_failed(monkeypatch):
    monkeypatch.setattr(engine, "_FAILED", {})
    right = find("1.1").with_parts()
    with pytest.raises(NotYet):
        check("1.1", lambda a, b: right(a, b) if len(a) == 2 else torch.tensor(0.5))
    assert len(failing_case()["a"]) != 2


def test_no_expected_value_in_feedback():
    verdict = run(find("1.1"), lambda a, b: (a + b).sum())
    assert "expected 14" in verdict.text() and "expected" not in verdict.text(show_expected=False)


def test_what_passes_is_noted_and_nothing_else(monkeypatch):
    noted = []
    monkeypatch.setattr(engine.progress_log, "passed", noted.append)
    quiz = QUIZZES[0]
    wrong = next(letter for letter in quiz.listed.options if letter != quiz.right)
    with pytest.raises(NotYet):
        check(quiz.number, wrong)
    check(quiz.number, quiz.right)
    assert noted == [quiz.number]


def test_check_changes_no_global_state():
    torch.manual_seed(3)
    before = torch.get_rng_state().tolist()
    with pytest.raises(NotYet):
        check("1.1", lambda a, b: torch.rand(1))
    assert torch.get_rng_state().tolist() == before


def test_message_in_ipython_has_no_stack():
    code = """
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance(colors="nocolor")
        shell.run_cell("from course_utils.checks import check")
        shell.run_cell("def dot(a, b):\\n    return (a * b).mean()")
        shell.run_cell("check('1.1', dot)")
        shell.run_cell("def dot(a, b):\\n    total = 0\\n    return a @ torch_missing")
        shell.run_cell("check('1.1', dot)")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert "1.1 not yet" in done.stdout and "It looks like: " in done.stdout and "failing_case()" in done.stdout
    assert "NameError" in done.stdout and "stopped at line 3, `return a @ torch_missing`" in done.stdout
    assert "Traceback" not in done.stdout and "engine.py" not in done.stdout


def test_importing_the_package_loads_nothing_else():
    code = "import sys, course_utils; print([m for m in ('torch', 'numpy', 'matplotlib', 'ipywidgets') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
