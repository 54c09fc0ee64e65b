"""A notebook's runs: every exercise gets its chance, whatever the others do and whatever they put off limits."""

import ast

import handed_in
import pytest
from sandboxed import EXERCISES, linux, outcomes

from course_checks.catalogue import catalogue
from course_checks.deciding.find import find
from course_checks.running.encode import encode, pack
from course_grader import run_and_judge as runs
from course_grader.grade import GradingSettings, grade_one
from course_grader.in_sandbox.kernel_side import received
from course_grader.judging.score import ExerciseScore, cases_and_decider
from course_grader.limits import Limits
from course_grader.released_notebook import load_releases
from course_grader.running.kernel import Kernel
from course_grader.running.library_copy import library_copy
from course_grader.running.run import Probe, RunLog, run
from course_grader.submissions.rebuild import NotebookStep

SENT = {
    number: {"call": find(number).call.sent(), "cases": [case.sent() for case in find(number).cases(3)]}
    for number in ("1.1", "1.2")
}
PROBES = {"1.1": Probe("dot", SENT["1.1"], True), "1.2": Probe("cosine", SENT["1.2"], True)}
CHECKS = {number: NotebookStep("check", "", number) for number in PROBES}
DOT = NotebookStep("answer", "def dot(a, b):\n    return (a * b).sum()", "1.1")
COSINE = NotebookStep("answer", "def cosine(a, b):\n    return (a * b).sum(-1)", "1.2")


@pytest.mark.parametrize("number", catalogue())
def test_the_cases_of_each_exercise_reach_the_answer_whole(number):
    call, cases = find(number).call, cases_and_decider(number, "seed")[0]
    cell = Probe("f", {"call": call.sent(), "cases": [case.sent() for case in cases]}, True)("nonce")
    arrived = received(*ast.literal_eval(cell[cell.index("'nonce'") : -1])[1:])
    sent, received_there = (
        encode([c.sent() for c in (call, *cases)], 10**6) for call, cases in ((call, cases), arrived)
    )
    assert pack(received_there) == pack(sent)


def traced(fork_server, *steps, limits=None, library=None):
    limits = limits or Limits(cell_s=4)
    return run(steps, PROBES, limits, lambda deadline: Kernel(limits, deadline, fork_server, library))


def dying(code):
    return NotebookStep("answer", f"import os\n{code}", "1.1")


@linux
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("os._exit(7)", "the kernel ended itself with exit status 7"),
        ("os.kill(os.getpid(), 40)", "the kernel was ended by signal 40"),
        ("os.kill(os.getpid(), 11)", "the kernel was ended by SIGSEGV"),
    ],
)
def test_an_answer_that_ends_the_kernel_costs_only_itself(fork_server, code, reason):
    run_log = traced(fork_server, dying(code), CHECKS["1.1"], COSINE, CHECKS["1.2"])
    assert run_log.lost == {"1.1": reason} and run_log.events == [f"answer 1.1: {reason}"]
    assert set(run_log.observed) == {"1.2"} and set(run_log.observed["1.2"]) == {"nonce", "text", "data"}


@linux
def test_a_cell_goes_on_below_a_call_of_what_is_not_there(fork_server):
    """A comparison with the course's own, above the definition; what depends on it fails alone."""
    library = library_copy(frozenset({"course_utils.similarity.dot_product"}))
    text = "# mine\nimport torch\nfrom course_utils.similarity import dot_product\nwanted = dot_product(*[torch.ones(3)] * 2)\n"
    text += f"print(wanted)\n{DOT.text}\nassert dot(torch.ones(3), 1) == 3"
    run_log = traced(fork_server, NotebookStep("answer", text, "1.1"), CHECKS["1.1"], library=library)
    assert (
        "undefined" not in run_log.observed["1.1"]
        and run_log.cell_errors["1.1"][0] == "OffLimits"
        and not run_log.events
    )


@linux
def test_a_given_cell_is_never_to_blame(fork_server):
    timer = NotebookStep("extra", "import os, threading, time\nthreading.Timer(1, os._exit, (7,)).start()")
    given = NotebookStep("provided", "import time\ntime.sleep(2)\nx = 1")
    use = NotebookStep("answer", "def dot(a, b):\n    return (a * b).sum() * x", "1.1")
    run_log = traced(fork_server, timer, given, use, CHECKS["1.1"])
    assert set(run_log.observed) == {"1.1"} and run_log.events == ["cell 2: the kernel ended itself with exit status 7"]


@linux
def test_a_name_that_is_not_there_and_a_cell_that_failed(fork_server):
    run_log = traced(fork_server, NotebookStep("answer", "1 / 0", "1.1"), CHECKS["1.1"])
    assert "undefined" in run_log.observed["1.1"]
    assert run_log.cell_errors["1.1"] == ("ZeroDivisionError", "division by zero")


@linux
def test_there_is_an_end_to_new_beginnings(fork_server):
    bad = [NotebookStep("extra", "import os\nos._exit(1)")] * 3
    run_log = traced(fork_server, *bad, DOT, CHECKS["1.1"], limits=Limits(restarts=1))
    assert run_log.lost == {"1.1": "the kernel was lost too often"} and len(run_log.events) == 2


def test_a_probe_is_one_line_that_names_the_answer():
    probe = Probe("dot", SENT["1.1"], True)
    for text in (probe("abc"), probe.again((("x = 1", True),), "abc")):
        assert "\n" not in text and "dot" in text and "'abc'" in text
        compile(text, "probe", "exec")


def graded(monkeypatch, stem, **answers):
    """The result, and the names taken out of each library copy in order."""
    removed, lesson = [], stem[:2]
    monkeypatch.setattr(runs, "library_copy", lambda names: removed.append(names) or library_copy(names))
    settings = GradingSettings(load_releases(EXERCISES, lesson), "a seed")
    return outcomes(grade_one(handed_in.as_bytes(handed_in.solved(stem, **answers)), "x", settings)), removed


ROLES = """from course_utils import attention as course


def roles(layer, L, d):
    x, memory = torch.randn(2, L, d, dtype=torch.float64)
    course.scaled_dot_product_attention(x, memory, memory)
    by_x, by_memory = torch.autograd.functional.jacobian(layer, (x, memory))
    values, other, table = ("memory", "x", by_x) if layer(0 * x, memory).any() else ("x", "memory", by_memory)
    keys = other if (table[0, :, 1].abs() > 1e-9).any() else values
    double = layer(2 * x, memory) if values == "x" else layer(x, 2 * memory)
    moved = torch.allclose(double, 2 * layer(x, memory), rtol=1e-9) if keys == other else table[0, :, 0].any()
    return [other if moved else values, keys, values]
"""


@linux
def test_what_only_another_exercise_forbids_may_be_used(monkeypatch):
    """4.2 may use the course's attention, which 4.1 asks for."""
    by_exercise, removed = graded(monkeypatch, "04_scaled_dot_product_attention", answer_4_2=ROLES)
    assert set(by_exercise.values()) == {"right"}
    assert runs.removed_names("4.2") == removed[1] != removed[0] == removed[2]  # the last is the second run


A, B = "course_utils.a", "course_utils.b"
NUMBERS = ("1.1", "1.2", "1.7")


def fake_runs(observe, monkeypatch, limits=None, seconds=0.1):
    """Three exercises in runs without kernels; ``observe`` says what each brings.

    Args:
        observe: Names that were taken out -> fields of the run_log; what was observed stands for the outcome.
    """
    monkeypatch.setattr(runs, "removed_names", {"1.1": frozenset({A}), "1.2": frozenset({B}), "1.7": frozenset()}.get)
    monkeypatch.setattr(runs, "library_copy", lambda names: names)
    asked = []

    def run(steps, probes, limits, open_kernel):
        names = open_kernel(0.0)
        asked.append((set(names), [step.number for step in steps]))
        return RunLog(seconds=seconds, **observe(names))

    def judge(run_log, numbers):
        outcome = {n: run_log.observed.get(n) or f"lost: {run_log.lost.get(n)}" for n in NUMBERS}
        return [ExerciseScore(n, 1, 0, outcome[n], "") for n in NUMBERS if n in numbers]

    monkeypatch.setattr(runs, "run", run)
    steps, probes = tuple(NotebookStep("check", "", n) for n in NUMBERS), {n: Probe("", {}, True) for n in NUMBERS}
    all_runs = runs.Runs(limits or Limits(), lambda deadline, names: names)
    run_log, scores, _ = runs.run_and_judge(steps, probes, all_runs, judge)
    return asked, [score.outcome for score in scores.values()], all_runs


def test_an_exercise_runs_again_only_where_that_can_help(monkeypatch):
    def observe(names):
        first = len(names) == 2
        by_exercise = {"1.1": "wrong" if first else "right", "1.2": "wrong", "1.7": "wrong"}
        return {"observed": by_exercise, "removed_calls": {B} if first else set()}

    asked, by_exercise, all_runs = fake_runs(observe, monkeypatch)
    assert asked == [({A, B}, [*NUMBERS]), ({A}, ["1.1"])]  # 1.2 may not use what was called; 1.7 is a quiz
    assert by_exercise == ["right", "wrong", "wrong"] and all_runs.seconds == pytest.approx(0.2)
    asked, _, _ = fake_runs(lambda names: {"observed": dict.fromkeys(NUMBERS, "wrong")}, monkeypatch)
    assert len(asked) == 1  # nothing was called


def test_a_cell_that_a_removed_name_stopped_runs_again(monkeypatch):
    def observe(names):
        if len(names) < 2:
            return {"observed": {"1.1": "right"}}
        stopped = {"lost": {"1.1": "memory"}, "cell_errors": {"1.1": ("OffLimits", "")}}
        return stopped | {"observed": {"1.2": "right", "1.7": "right"}}

    asked, by_exercise, _ = fake_runs(observe, monkeypatch)
    assert by_exercise == ["right"] * 3 and len(asked) == 2


def test_all_runs_together_have_the_time_of_one_notebook(monkeypatch):
    wrong = {"observed": dict.fromkeys(NUMBERS, "wrong"), "removed_calls": {A, B}}
    asked, by_exercise, _ = fake_runs(lambda names: wrong, monkeypatch, Limits(notebook_s=0.5), seconds=0.3)
    assert len(asked) == 1 and by_exercise == ["lost: notebook time limit"] * 2 + ["wrong"]
