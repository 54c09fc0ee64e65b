"""A notebook's run: every exercise gets its chance, whatever the others do."""

import asyncio

import pytest
from sandboxed import linux

from course_checks.deciding.find import find
from course_grader.limits import Limits
from course_grader.running.fork_server import ForkServer
from course_grader.running.kernel import Kernel
from course_grader.running.library_copy import library_copy
from course_grader.running.run import probe_text, run
from course_grader.submissions.rebuild import Step

SENT = {
    number: {"call": find(number).call.sent(), "cases": [case.sent() for case in find(number).cases(3)]}
    for number in ("1.1", "1.2")
}
PROBES = {"1.1": ("dot", SENT["1.1"], True), "1.2": ("cosine", SENT["1.2"], True)}
CHECKS = {number: Step("probe", "", number) for number in PROBES}
DOT = Step("answer", "def dot(a, b):\n    return (a * b).sum()", "1.1")
COSINE = Step("answer", "def cosine(a, b):\n    return (a * b).sum(-1)", "1.2")


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
    trace = traced(fork_server, DOT, CHECKS["1.1"], COSINE, CHECKS["1.2"])
    assert set(trace.observed) == {"1.1", "1.2"} and not trace.lost and not trace.events
    assert all(set(seen) == {"nonce", "text", "data"} for seen in trace.observed.values())


@linux
def test_an_answer_that_ends_the_kernel_costs_only_itself(fork_server):
    bad = Step("answer", "import os\nos._exit(7)", "1.1")
    trace = traced(fork_server, bad, CHECKS["1.1"], COSINE, CHECKS["1.2"])
    assert trace.lost == {"1.1": "the kernel ended itself with exit status 7"} and set(trace.observed) == {"1.2"}
    assert trace.events == ["answer 1.1: the kernel ended itself with exit status 7"]


@linux
def test_a_cell_goes_on_below_a_call_of_what_is_not_there(fork_server):
    """A comparison with the course's own, above the definition; what depends on it fails alone."""
    folder = library_copy(frozenset({"course_utils.similarity.dot_product"}))
    before = (
        "from course_utils.similarity import dot_product\nwanted = dot_product(*[torch.ones(3)] * 2)\nprint(wanted)\n"
    )
    compared = Step("answer", f"# mine\nimport torch\n{before}{DOT.text}\nassert dot(torch.ones(3), 1) == 3", "1.1")
    limits = Limits(cell_s=4)
    steps = (compared, CHECKS["1.1"])
    trace = asyncio.run(run(steps, PROBES, limits, lambda deadline: Kernel(limits, deadline, fork_server, folder)))
    assert "undefined" not in trace.observed["1.1"] and trace.cell_errors["1.1"][0] == "OffLimits" and not trace.events


@linux
@pytest.mark.parametrize(("number", "name"), [(40, "signal 40"), (11, "SIGSEGV")])
def test_every_signal_has_a_name(fork_server, number, name):
    trace = traced(fork_server, Step("answer", f"import os\nos.kill(os.getpid(), {number})", "1.1"), CHECKS["1.1"])
    assert trace.lost == {"1.1": f"the kernel was ended by {name}"}


@linux
def test_a_given_cell_is_never_to_blame(fork_server):
    flood = Step("extra", "import os, threading, time\nthreading.Timer(1, os._exit, (7,)).start()")
    given = Step("given", "import time\ntime.sleep(2)\nx = 1")
    use = Step("answer", "def dot(a, b):\n    return (a * b).sum() * x", "1.1")
    trace = traced(fork_server, flood, given, use, CHECKS["1.1"])
    assert set(trace.observed) == {"1.1"} and trace.events == ["cell 2: the kernel ended itself with exit status 7"]


@linux
def test_a_name_that_is_not_there_and_a_cell_that_failed(fork_server):
    trace = traced(fork_server, Step("answer", "1 / 0", "1.1"), CHECKS["1.1"])
    assert "undefined" in trace.observed["1.1"] and trace.cell_errors["1.1"] == (
        "ZeroDivisionError",
        "division by zero",
    )


@linux
def test_there_is_an_end_to_new_beginnings(fork_server):
    bad = [Step("extra", "import os\nos._exit(1)")] * 3
    trace = traced(fork_server, *bad, DOT, CHECKS["1.1"], limits=Limits(restarts=1))
    assert trace.lost == {"1.1": "the kernel was lost too often"} and len(trace.events) == 2


def test_a_probe_is_one_line_that_names_the_answer():
    text = probe_text("abc", "dot", SENT["1.1"], True)
    assert "\n" not in text and "lambda: (dot)" in text and "'abc'" in text
    compile(text, "probe", "exec")
