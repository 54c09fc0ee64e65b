"""A notebook's run: every exercise gets its chance, whatever the others do."""

import asyncio

import pytest
from sandboxed import linux

from course_checks.deciding.find import find
from course_grader.limits import Limits
from course_grader.running.fork_server import ForkServer
from course_grader.running.kernel import Kernel
from course_grader.running.room import room
from course_grader.running.run import probe_text, run
from course_grader.submissions.rebuild import NotebookStep

SENT = {
    number: {"call": find(number).call.sent(), "cases": [case.sent() for case in find(number).cases(3)]}
    for number in ("1.1", "1.2")
}
PROBES = {"1.1": ("dot", SENT["1.1"], True), "1.2": ("cosine", SENT["1.2"], True)}
CHECKS = {number: NotebookStep("check", "", number) for number in PROBES}
DOT = NotebookStep("answer", "def dot(a, b):\n    return (a * b).sum()", "1.1")
COSINE = NotebookStep("answer", "def cosine(a, b):\n    return (a * b).sum(-1)", "1.2")


@pytest.fixture(scope="module")
def fork_server():
    found = ForkServer()
    yield found
    found.close()


def traced(fork_server, *steps, limits=None):
    limits = limits or Limits(cell_s=4)
    return asyncio.run(run(steps, PROBES, limits, lambda deadline: Kernel(limits, deadline, fork_server)))


@linux
def test_both_are_seen(fork_server):
    run_log = traced(fork_server, DOT, CHECKS["1.1"], COSINE, CHECKS["1.2"])
    assert set(run_log.seen) == {"1.1", "1.2"} and not run_log.lost and not run_log.events
    assert all(set(seen) == {"nonce", "text", "data"} for seen in run_log.seen.values())


@linux
def test_an_answer_that_ends_the_kernel_costs_only_itself(fork_server):
    bad = NotebookStep("answer", "import os\nos._exit(7)", "1.1")
    run_log = traced(fork_server, bad, CHECKS["1.1"], COSINE, CHECKS["1.2"])
    assert run_log.lost == {"1.1": "the kernel ended itself with exit status 7"} and set(run_log.seen) == {"1.2"}
    assert run_log.events == ["answer 1.1: the kernel ended itself with exit status 7"]


@linux
def test_a_cell_goes_on_below_a_call_of_what_is_not_there(fork_server):
    """A comparison with the course's own, above the definition; what depends on it fails alone."""
    folder = room(frozenset({"course_utils.similarity.dot_product"}))
    before = (
        "from course_utils.similarity import dot_product\nwanted = dot_product(*[torch.ones(3)] * 2)\nprint(wanted)\n"
    )
    compared = NotebookStep(
        "answer", f"# mine\nimport torch\n{before}{DOT.text}\nassert dot(torch.ones(3), 1) == 3", "1.1"
    )
    limits = Limits(cell_s=4)
    steps = (compared, CHECKS["1.1"])
    run_log = asyncio.run(run(steps, PROBES, limits, lambda deadline: Kernel(limits, deadline, fork_server, folder)))
    assert "undefined" not in run_log.seen["1.1"] and run_log.broken["1.1"][0] == "OffLimits" and not run_log.events


@linux
@pytest.mark.parametrize(("number", "name"), [(40, "signal 40"), (11, "SIGSEGV")])
def test_every_signal_has_a_name(fork_server, number, name):
    run_log = traced(
        fork_server, NotebookStep("answer", f"import os\nos.kill(os.getpid(), {number})", "1.1"), CHECKS["1.1"]
    )
    assert run_log.lost == {"1.1": f"the kernel was ended by {name}"}


@linux
def test_a_given_cell_is_never_to_blame(fork_server):
    flood = NotebookStep("extra", "import os, threading, time\nthreading.Timer(1, os._exit, (7,)).start()")
    given = NotebookStep("provided", "import time\ntime.sleep(2)\nx = 1")
    use = NotebookStep("answer", "def dot(a, b):\n    return (a * b).sum() * x", "1.1")
    run_log = traced(fork_server, flood, given, use, CHECKS["1.1"])
    assert set(run_log.seen) == {"1.1"} and run_log.events == ["cell 2: the kernel ended itself with exit status 7"]


@linux
def test_a_name_that_is_not_there_and_a_cell_that_failed(fork_server):
    run_log = traced(fork_server, NotebookStep("answer", "1 / 0", "1.1"), CHECKS["1.1"])
    assert "undefined" in run_log.seen["1.1"] and run_log.broken["1.1"] == ("ZeroDivisionError", "division by zero")


@linux
def test_there_is_an_end_to_new_beginnings(fork_server):
    bad = [NotebookStep("extra", "import os\nos._exit(1)")] * 3
    run_log = traced(fork_server, *bad, DOT, CHECKS["1.1"], limits=Limits(restarts=1))
    assert run_log.lost == {"1.1": "the kernel was lost too often"} and len(run_log.events) == 2


def test_a_probe_is_one_line_that_names_the_answer():
    text = probe_text("abc", "dot", SENT["1.1"], True)
    assert "\n" not in text and "lambda: (dot)" in text and "'abc'" in text
    compile(text, "probe", "exec")
