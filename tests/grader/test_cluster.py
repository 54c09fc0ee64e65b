"""A dask cluster grades as one machine does, also when it loses a worker on the way."""

import os
import signal

import handed_in
import pytest
from sandboxed import linux, terms

from course_grader.cluster import run_cluster
from course_grader.pool import Task
from course_grader.submissions.find import Submission

distributed = pytest.importorskip("distributed")


@linux
def test_two_workers_one_of_which_is_killed():
    answers = [None, set(), {"answer-1-1"}, {"answer-1-2", "quiz-1-7"}] * 3
    wanted = [18, 0, 2, 4] * 3
    tasks = [
        Task(Submission(str(index), "x.ipynb", None), handed_in.as_bytes(handed_in.solved(only=only)), "")
        for index, only in enumerate(answers)
    ]
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        results = run_cluster(tasks, terms(), cluster.scheduler_address)
        found = {}
        for task, result in results:
            assert task.submission.student not in found, "graded twice"
            found[task.submission.student] = result["earned"]
            if len(found) == 2:
                os.kill(cluster.workers[0].pid, signal.SIGKILL)
    assert [found[str(index)] for index in range(len(tasks))] == wanted
