"""Local grading: as many at a time as asked, whatever happens to the processes that do it."""

import multiprocessing
import multiprocessing.forkserver
import os
import signal
import time

import handed_in
import psutil
import pytest
from sandboxed import linux, make_settings

from course_grader import pool
from course_grader.limits import Limits
from course_grader.pool import GradingProcess, Task, run_local
from course_grader.submissions.submission import Submission


def task(name, **answers):
    data = handed_in.as_bytes(handed_in.solved(**answers))
    return Task(Submission(name, "x.ipynb", None), data, name)


@linux
def test_every_task_comes_back_once():
    wanted = {"a": 24, "b": 22, "c": 24}
    tasks = [task("a"), task("b", answer_1_1="def dot(a, b):\n    return 0.0"), task("c")]
    found = [(done.submission.student, result["earned"]) for done, result in run_local(tasks, make_settings(), 2)]
    assert sorted(found) == sorted(wanted.items())


def dies_once(pipe, given):
    """Answers, but the first process of all dies with the submission in its hands."""
    pipe.send("ready")
    data, label = pipe.recv()
    if not os.path.exists(given.seed):
        open(given.seed, "x").close()
        os._exit(1)
    pipe.send({"label": label})
    pipe.recv()


def always_dies(pipe, given):
    pipe.send("ready")
    pipe.recv()
    os._exit(1)


def never_answers(pipe, given):
    pipe.send("ready")
    time.sleep(99)


def cannot_start(pipe, given):
    raise ImportError("a module is missing")


def says_nothing(pipe, given):
    time.sleep(99)


TASK = Task(Submission("a", "x.ipynb", None), b"", "a")


@pytest.fixture
def graders(tmp_path):
    """Makes graders that run a function of this file instead of grading."""
    made = []

    def make(serve):
        made.append(GradingProcess(make_settings(seed=str(tmp_path / "died"), limits=Limits(notebook_s=1)), serve))
        return made[-1]

    yield make
    for grader in made:
        grader.close()


def test_who_died_is_replaced(graders):
    assert graders(dies_once).grade(TASK) == {"label": "x.ipynb"}


def test_who_dies_again_and_again_costs_its_submission_only(graders):
    grader = graders(always_dies)
    for _ in range(2):
        assert "died 2 times" in grader.grade(TASK)["problem"]


def test_who_takes_too_long_is_ended(graders, monkeypatch):
    monkeypatch.setattr(pool, "EXTRA_S", 0.5)
    grader = graders(never_answers)
    grader.start()
    number, started = grader.process.pid, time.monotonic()
    assert "took more than 2 s" in grader.grade(TASK)["problem"] and time.monotonic() - started < 20
    assert not psutil.pid_exists(number)


@pytest.mark.parametrize(("serve", "said"), [(cannot_start, "exit code 1"), (says_nothing, "not ready after 2 s")])
def test_who_cannot_start_says_so(graders, monkeypatch, serve, said):
    monkeypatch.setattr(pool, "START_S", 120.0 if serve is cannot_start else 2.0)
    with pytest.raises(RuntimeError, match=said):
        graders(serve).grade(TASK)


def test_no_memory_for_a_process_ends_the_run(monkeypatch):
    def no_memory(*arguments, **named):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(multiprocessing.get_context("forkserver").Process, "start", no_memory)
    with pytest.raises(RuntimeError, match=r"Cannot allocate memory.*--jobs"):
        list(run_local([TASK], make_settings(), 1))


def test_who_was_stopped_stays_so(graders):
    grader = graders(dies_once)
    grader.start()
    grader.stop()
    with pytest.raises(RuntimeError, match="stopped"):
        grader.grade(TASK)


@linux
def test_ctrl_c_while_the_first_process_is_started_is_heard(monkeypatch, ctrl_c):
    def interrupted():
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(multiprocessing.forkserver, "ensure_running", interrupted)
    pool._context.cache_clear()
    with pytest.raises(KeyboardInterrupt):
        pool._context()


@linux
def test_tasks_are_taken_one_by_one_and_the_rest_is_left_when_nobody_listens():
    taken = []

    def tasks():
        for name in "abcdefgh":
            taken.append(name)
            yield task(name)

    results = run_local(tasks(), make_settings(), 1)
    next(results)
    results.close()
    assert len(taken) < 6


def test_an_error_in_the_tasks_is_not_swallowed():
    def tasks():
        raise OSError("the disk is gone")
        yield

    with pytest.raises(OSError, match="the disk is gone"):
        list(run_local(tasks(), make_settings(), 2))
