"""Local grading: as many at a time as asked, whatever happens to the processes that do it."""

import contextlib
import os
import signal
import time

import handed_in
import psutil
import pytest
from sandboxed import linux, terms

from course_grader.pool import Task, lost, run_local
from course_grader.submissions.submission import Submission


def task(name, **answers):
    data = handed_in.as_bytes(handed_in.solved(**answers))
    return Task(Submission(name, "x.ipynb", None), data, name)


def workers():
    """The grading processes: children of the fork server that have a fork_server."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "fork_server" in " ".join(process.cmdline()) and "fork_server" not in " ".join(
                process.parent().cmdline()
            ):
                found.append(process.parent())
    return [process for process in found if process.pid != os.getpid()]


@linux
@pytest.mark.parametrize("jobs", [1, 2])
def test_every_task_comes_back_once(jobs):
    wanted = {"a": 18, "b": 16, "c": 18}
    tasks = [task("a"), task("b", answer_1_1="def dot(a, b):\n    return 0.0"), task("c")]
    found = [(done.submission.student, result["earned"]) for done, result in run_local(tasks, terms(), jobs)]
    assert sorted(found) == sorted(wanted.items())


@linux
def test_a_grading_process_that_dies_costs_one_more_try():
    slow = "import time\ntime.sleep(4)\ndef dot(a, b):\n    return (a * b).sum()"
    results = run_local([task("quick"), task("slow", answer_1_1=slow), task("later")], terms(), 1)
    assert next(results)[1]["earned"] == 18
    time.sleep(1)
    victims = workers()
    assert len(victims) == 1
    os.kill(victims[0].pid, signal.SIGKILL)
    assert {done.submission.student: result["earned"] for done, result in results} == {"slow": 18, "later": 18}


@linux
def test_tasks_are_taken_one_by_one_and_the_rest_is_left_when_nobody_listens():
    taken = []

    def tasks():
        for name in "abcdefgh":
            taken.append(name)
            yield task(name)

    results = run_local(tasks(), terms(), 1)
    next(results)
    results.close()
    assert len(taken) < 6


def test_an_error_in_the_tasks_is_not_swallowed():
    def tasks():
        raise OSError("the disk is gone")
        yield

    with pytest.raises(OSError, match="the disk is gone"):
        list(run_local(tasks(), terms(), 2))


def test_a_lost_submission_says_so():
    assert "died 2 times" in lost(terms())["problem"]
