"""``check``, ``hint`` and ``failing_case`` as students meet them: any answer at all, in plain Python and in IPython."""

import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from course_checks import NotYet, check, engine, failing_case, hint
from course_checks.catalogue import catalogue
from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.exercise import Exercise
from course_checks.deciding.find import find
from course_checks.deciding.verdict import MAX_LINES, WIDTH
from course_checks.engine import SEED, run
from course_checks.running import observe_answer

NUMBERS = [n if n.endswith(".1") else pytest.param(n, marks=pytest.mark.slow) for n in catalogue()]


@pytest.fixture(autouse=True)
def a_fresh_kernel(monkeypatch):
    monkeypatch.setattr(engine, "_LAST", {})
    monkeypatch.setattr(engine, "_FAILED", set())
    monkeypatch.setattr(engine.progress_log, "passed", lambda number: None)


def off_by_one(L_q, L_k):
    return torch.ones(L_q, L_k).tril(L_k - L_q + 1).bool()


def causal(L_q, L_k):
    return torch.ones(L_q, L_k).tril(L_k - L_q).bool()


def empty(L_q, L_k):
    raise NotImplementedError


def message(number, answer):
    with pytest.raises(NotYet) as caught:
        check(number, answer)
    return str(caught.value)


class EqualToAll:
    def __eq__(self, other):
        return True

    __hash__ = None


def changes(*arguments):
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            argument.zero_()
    return arguments[0]


VALUES = (None, 3, np.ones(3), torch.ones(2), dict, "a, b or c", lambda: 1, changes, lambda *a: a[0])
RETURNED = (None, [1.0, 2.0], torch.ones(2, 2) * torch.nan, torch.ones(3, device="meta"), iter([]), EqualToAll())
STOPS = (lambda *a: 1 / 0, lambda *a: sys.exit(0), lambda *a: (f := lambda: f())())
ANSWERS = (*VALUES, *(lambda *a, value=value: value for value in RETURNED), *STOPS)


@pytest.mark.parametrize("number", NUMBERS)
def test_no_answer_of_any_kind_passes_or_breaks_a_check(number):
    entry = find(number)
    cases = cases_of(entry, SEED)
    decide = decider(entry, cases)
    for place, answer in enumerate(ANSWERS):
        verdict = decide(observe_answer(answer, entry.call, cases))
        lines = verdict.text(in_notebook=True).split("\n")
        assert not verdict.passed, place
        assert lines[0].startswith(number) and f"0 of {entry.points} point" in lines[0]
        assert len(lines) <= MAX_LINES and max(map(len, lines)) <= WIDTH, place


@pytest.mark.parametrize("number", NUMBERS)
def test_a_stub_is_not_attempted_and_an_answer_that_changes_its_arguments_is_told(number):
    exercise = find(number)
    assert not run(exercise, None).attempted
    if not isinstance(exercise, Exercise):
        return

    def stub(*arguments):
        raise NotImplementedError

    def spoils(*arguments):
        result = exercise.right(*arguments)
        return [torch.clone(result) if isinstance(result, torch.Tensor) else result, changes(*arguments)][0]

    is_class = exercise.call.expects == "class"
    assert not run(exercise, type("Stub", (), {"__init__": stub}) if is_class else stub).attempted
    cases = cases_of(exercise, SEED)
    tensors = any(value.any() for case in cases for value in case.values() if isinstance(value, torch.Tensor))
    if tensors and not exercise.driver and len(exercise.returns) == 1:
        verdict = decider(exercise, cases)(observe_answer(spoils, exercise.call, cases, guarded=False))
        assert not verdict.passed and "in place" in verdict.text()


@pytest.mark.parametrize("number", ["5.2", "1.7"])
def test_check_raises_the_verdict_and_shows_no_stack(number):
    engine._FAILED.add(number)
    for answer in ANSWERS:
        with pytest.raises(NotYet) as caught:
            check(number, answer)
        expected = run(find(number), answer).text(in_notebook=True)
        shown = "\n".join(caught.value._render_traceback_())
        assert str(caught.value) == expected == re.sub(r"\x1b\[\d+m", "", shown)
        bold = re.findall(r"\x1b\[1m(.*?)\x1b\[0m", shown)
        assert bold[0] == expected.split("\n")[0]
        assert ("It looks like:" in bold, "Try:" in bold) == ("\nIt looks like: " in expected, "\nTry: " in expected)


def test_what_to_try_comes_with_the_second_failure_of_an_exercise():
    first, second = message("5.2", off_by_one), message("5.2", off_by_one)
    assert "It looks like: " in first and "(hint(), in a new cell, says what to try)" in first and "Try: " not in first
    assert "Try: " in second and "hint()" not in second
    assert "Try: " not in message("5.1", lambda tokens, pad_id: tokens == pad_id)


def test_a_right_answer_begins_anew(capsys):
    message("5.2", off_by_one)
    check("5.2", causal)
    assert "✓ 5.2 right · 3 of 3 points" in capsys.readouterr().out
    assert "Try: " not in message("5.2", off_by_one)


def test_an_empty_answer_is_no_failure():
    assert "not attempted" in message("5.2", empty) and "Try: " in message("5.2", None)
    assert "Try: " not in message("5.2", off_by_one)


def test_hint_says_what_to_try_of_the_last_failure(capsys):
    hint()  # left in a notebook, it must not stop a run from the top
    assert "no check has failed" in capsys.readouterr().out
    message("5.2", off_by_one)
    hint()
    assert capsys.readouterr().out == "5.2: the last key a query may see is the one at its own position.\n"
    message("1.7", "z")
    hint()
    assert capsys.readouterr().out.startswith("1.7: read the message")
    hint("1.7")
    hint("5.2")
    assert "the last check that failed was 1.7: run the check of 5.2" in capsys.readouterr().out


def test_an_array_with_the_right_numbers_is_told_its_type_alone():
    told = message("5.2", lambda L_q, L_k: causal(L_q, L_k).numpy())
    assert "make it a tensor with torch.from_numpy" in " ".join(told.split()) and "It looks like" not in told


def test_the_failing_case_can_be_taken_into_the_hand():
    with pytest.raises(LookupError, match="no check has failed"):
        failing_case()
    assert "case = failing_case()" in " ".join(message("5.1", lambda tokens, pad_id: tokens).split())
    case = failing_case()
    assert list(case) == ["tokens", "pad_id"] and case["tokens"].any()
    case["tokens"].zero_()
    assert failing_case()["tokens"].any()  # a copy each time
    assert "failing_case" not in message("5.1", None)  # nothing was called: the case of before stays
    assert failing_case()["tokens"].shape == case["tokens"].shape


def test_it_is_the_case_that_failed():
    message("5.2", lambda L_q, L_k: causal(L_q, L_k) if L_q == L_k else off_by_one(L_q, L_k))
    assert failing_case() == {"L_q": 2, "L_k": 5}


def test_a_driver_shows_what_it_hands_to_the_answer():
    message("5.7", lambda attend, x: torch.ones(3, 3).bool())
    case = failing_case()
    assert case["attend"](case["x"]).shape == case["x"].shape


def test_what_passes_is_noted_and_nothing_else(monkeypatch):
    noted = []
    monkeypatch.setattr(engine.progress_log, "passed", noted.append)
    message("5.2", off_by_one)
    check("5.2", causal)
    assert noted == ["5.2"]


def test_check_changes_no_global_state():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    message("5.5", lambda scores, mask: torch.rand(1))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_message_in_ipython_has_no_stack():
    code = """
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance(colors="nocolor")
        shell.run_cell("import torch\\nfrom course_checks import check")
        shell.run_cell("def causal_mask(L_q, L_k):\\n    return torch.ones(L_q, L_k).tril(1).bool()")
        shell.run_cell("check('5.2', causal_mask)")
        shell.run_cell("def causal_mask(L_q, L_k):\\n    total = 0\\n    return torch_missing")
        shell.run_cell("check('5.2', causal_mask)")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert "5.2 not yet" in done.stdout and "It looks like:" in done.stdout and "failing_case()" in done.stdout
    assert "NameError" in done.stdout and "stopped at line 3, `return torch_missing`" in done.stdout
    assert "Traceback" not in done.stdout and "engine.py" not in done.stdout


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("def dot(a, b):\n    return (a * b", "did not run (line 2: "),
        ("raise ValueError", "stopped (ValueError)"),
        ("answer = c", "stopped (NameError: name 'c' is not defined). If your answer stands there"),
        ("1", ""),
    ],
)
def test_after_a_cell_that_did_not_run_to_its_end_the_check_says_that_it_judges_an_older_answer(
    cell, said, monkeypatch, capsys
):
    shell = InteractiveShell()
    monkeypatch.setattr(engine, "_shell", lambda: shell)
    shell.run_cell(cell)
    capsys.readouterr()
    with pytest.raises(NotYet):
        check("1.1", lambda a, b: a + b)
    printed = capsys.readouterr().out
    assert said in printed and bool(printed) == bool(said)
