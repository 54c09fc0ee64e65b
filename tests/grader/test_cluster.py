"""A dask cluster grades as one machine does, also when it loses a worker on the way."""

import os
import signal

import handed_in
import pytest
from sandboxed import linux, make_settings

from course_grader.cluster import run_cluster
from course_grader.pool import Task
from course_grader.submissions.submission import Submission

distributed = pytest.importorskip("distributed")


@linux
@pytest.mark.slow
def test_two_workers_one_of_which_is_killed():
    answers = [None, set(), {"answer-1-1"}, {"answer-1-2", "quiz-1-7"}] * 3
    wanted = [24, 0, 2, 4] * 3
    tasks = [
        Task(Submission(str(index), "x.ipynb", None), handed_in.as_bytes(handed_in.solved(only=only)), "")
        for index, only in enumerate(answers)
    ]
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        results = run_cluster(tasks, make_settings(), cluster.scheduler_address)
        results_by_student = {}
        for task, result in results:
            assert task.submission.student not in results_by_student, "graded twice"
            results_by_student[task.submission.student] = result["earned"]
            if len(results_by_student) == 2:
                os.kill(cluster.workers[0].pid, signal.SIGKILL)
    assert [results_by_student[str(index)] for index in range(len(tasks))] == wanted


@pytest.mark.parametrize("problem", [ZeroDivisionError("zero"), distributed.KilledWorker("x", None, 0)])
def test_what_a_worker_raises_is_one_submissions_result(monkeypatch, problem):
    def run(data, label, given):
        if label == "ann":
            raise problem
        return {"earned": 1}

    monkeypatch.setattr("course_grader.cluster.grade_one", run)
    tasks = [Task(Submission(student, student, None), b"", "") for student in ("ann", "bob")]
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        results_by_student = {
            task.submission.student: result
            for task, result in run_cluster(tasks, make_settings(), cluster.scheduler_address)
        }
    assert (
        results_by_student["bob"] == {"earned": 1}
        and results_by_student["ann"]["problem"]
        and results_by_student["ann"]["earned"] == 0
    )
