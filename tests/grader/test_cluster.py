"""A Dask cluster grades as one machine does, also when it loses a worker on the way; what is wrong with it is said."""

import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import handed_in
import pytest
from sandboxed import linux, make_settings

from course_grader import cluster
from course_grader.cluster import run_cluster
from course_grader.pool import Task
from course_grader.submissions.submission import Submission

pytestmark = pytest.mark.needs("cluster")


def task(student, data=b""):
    return Task(Submission(student, student, None), data, "")


@pytest.fixture
def start(tmp_path):
    """Starts Dask's own programs, as on other machines; ends them after the test."""
    started, file = [], tmp_path / "scheduler.json"

    def start(program, *options, **environment):
        command = [sys.executable, "-m", f"distributed.cli.dask_{program}", "--scheduler-file", str(file)]
        command += ["--no-dashboard", "--host", "127.0.0.1", *options]
        with open(tmp_path / f"{program}-{len(started)}.log", "w") as log:
            settings = os.environ | environment | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "10s"}
            started.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path, env=settings))
        while not file.exists():
            time.sleep(0.1)
        return json.loads(file.read_text())["address"], started[-1].pid

    yield start
    for process in started:
        process.kill()
        process.wait()


def start_worker(start, **environment):
    return start("worker", "--nthreads", "1", "--no-nanny", **environment)[1]


@pytest.fixture
def in_process():
    """A scheduler and one worker in this process, where a test can replace what the worker runs."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as made:
        yield made.scheduler_address


@linux
@pytest.mark.slow
def test_a_worker_is_killed_while_it_grades(start):
    from distributed import Client

    address, _ = start("scheduler", "--port", "0")
    pids = [start_worker(start) for _ in range(2)]
    answers = [None, set(), {"answer-1-1"}, {"answer-1-2", "quiz-1-7"}] * 3
    tasks = [task(str(i), handed_in.as_bytes(handed_in.solved(only=only))) for i, only in enumerate(answers)]
    earned, victim = {}, None
    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2)
        for done, result in run_cluster(tasks, make_settings(), address):
            assert done.submission.student not in earned, "graded twice"
            earned[done.submission.student] = result["earned"]
            if victim is None:
                victim = next(
                    worker for worker, keys in client.processing().items() if keys
                )  # it has work in its hands
                pid = client.run(os.getpid, workers=[victim])[victim]
                assert pid in pids
                os.kill(pid, signal.SIGKILL)
        assert victim not in client.scheduler_info()["workers"]
    assert [earned[str(index)] for index in range(len(tasks))] == [24, 0, 2, 4] * 3


@pytest.mark.slow
def test_a_scheduler_that_is_gone_ends_the_run(start):
    address, scheduler = start("scheduler", "--port", "0")
    start_worker(start)
    results = run_cluster([task(str(i), b"null") for i in range(20)], make_settings(sandbox=False), address)
    next(results)
    os.kill(scheduler, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="the scheduler is gone"):
        list(results)


@pytest.mark.parametrize("address", ["nonsense", "http://127.0.0.1:1", "tcp://127.0.0.1:1", "tcp://nowhere.invalid:1"])
def test_an_address_without_a_scheduler_is_told(address, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_S", 0.5)
    with pytest.raises(RuntimeError, match=rf"--scheduler \({address}\): no dask scheduler answers there \(.+\)"):
        list(run_cluster([], make_settings(), address))


@pytest.mark.parametrize(
    ("name", "change", "sandbox", "message"),
    [
        ("course_digest", lambda: str(time.monotonic_ns()), False, "another version of the course than this process"),
        ("Sandbox", lambda limits: 1 / 0, True, r"cannot grade \(ZeroDivisionError"),
    ],
)
def test_a_worker_that_cannot_grade_is_named(in_process, monkeypatch, name, change, sandbox, message):
    monkeypatch.setattr(cluster, name, change)
    with pytest.raises(RuntimeError, match=message):
        list(run_cluster([task("ann")], make_settings(sandbox=sandbox), in_process))


def test_a_scheduler_without_workers_is_told(monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(cluster, "WORKERS_S", 0.5)
    with (
        LocalCluster(n_workers=0, dashboard_address=None) as made,
        pytest.raises(RuntimeError, match="it has no worker"),
    ):
        list(run_cluster([task("ann")], make_settings(), made.scheduler_address))


@pytest.mark.parametrize("killed", [False, True])
def test_what_a_worker_raises_is_one_submissions_result(in_process, monkeypatch, killed):
    from distributed import KilledWorker

    def grade(data, label, given):
        if label == "ann":
            raise KilledWorker("x", SimpleNamespace(address="tcp://x"), 0) if killed else ZeroDivisionError("zero")
        return {"earned": 1}

    monkeypatch.setattr(cluster, "grade", grade)
    found = run_cluster([task("ann"), task("bob")], make_settings(sandbox=False), in_process)
    results = {done.submission.student: result for done, result in found}
    assert results["bob"] == {"earned": 1} and results["ann"]["earned"] == 0
    assert ("died" if killed else "ZeroDivisionError: zero") in results["ann"]["problem"]
