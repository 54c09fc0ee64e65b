"""The attacks (``make test-hostile``): each hostile submission beside an honest one, in the sandbox, for real.

After each: the score, the named cause, the neighbor's score, and that no process, file or socket is left.
"""

import contextlib
import json
import os
import tempfile
import threading
import time
from pathlib import Path

import handed_in
import psutil
import pytest
from crashes import CRASHES, DISTURBANCES
from sandbox_escapes import ESCAPES, PROTOCOL_MESSAGES
from sandboxed import linux, make_settings
from tampering import BORROWED, RESTORED, TAMPERING
from unusual_files import DECEPTIVE_ANSWERS, UNREADABLE

from course_grader.grade import grade_one
from course_grader.limits import Limits
from course_grader.reports.feedback import page

pytestmark = linux
CASES = [
    *TAMPERING,
    *BORROWED,
    *RESTORED,
    *CRASHES,
    *ESCAPES,
    *PROTOCOL_MESSAGES,
    *DECEPTIVE_ANSWERS,
    *DISTURBANCES,
    *UNREADABLE,
]
LIMITS = Limits(cell_s=6, notebook_s=90, memory_mb=1024)
NEIGHBOR = handed_in.as_bytes(handed_in.solved(only={"answer-1-1", "answer-1-3", "quiz-1-7"}))
NEIGHBOR_EARNS = 6
SANDBOX_USERS = range(64_000, 65_000)  # the user ids of sandboxes
# Two fork servers, an event loop and a ZeroMQ context for each thread.
OPEN_AT_MOST = len(os.listdir("/proc/self/fd")) + 32
survived = []


@pytest.fixture(scope="module")
def settings():
    return make_settings(limits=LIMITS)


@pytest.fixture(scope="module", autouse=True)
def summary():
    yield
    print(f"\n{len(CASES)} hostile and broken submissions tried, {len(survived)} survived")


class Grading(threading.Thread):
    """Grades submissions in a thread of its own, with a fork_server of its own."""

    def __init__(self, settings):
        super().__init__(daemon=True)
        self.settings, self.work, self.ready, self.done = settings, None, threading.Semaphore(0), threading.Semaphore(0)
        self.start()

    def run(self):
        while True:
            self.ready.acquire()
            try:
                self.result = grade_one(self.work, "x.ipynb", self.settings)
            except BaseException as problem:
                self.result = problem
            self.done.release()

    def begin(self, data):
        self.work = data
        self.ready.release()

    def end(self):
        self.done.acquire()
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


@pytest.fixture(scope="module")
def graders(settings):
    """One for the hostile submission and one for its neighbor, both warm."""
    pair = Grading(settings), Grading(settings)
    for grader in pair:
        grader.begin(NEIGHBOR)
        grader.end()
    return pair


def left_over():
    """Processes, files and sockets that a submission could leave."""
    processes = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            processes += [p.pid for p in child.children(recursive=True)] + [child.pid] * (child.name() == "bwrap")
    strange = [p for p in psutil.process_iter(["uids"]) if p.info["uids"] and p.info["uids"].real in SANDBOX_USERS]
    processes += [p.pid for p in strange if _is_ours_or_orphaned(p)]
    files = [*Path(tempfile.gettempdir()).iterdir()]
    for place in ("/tmp", "/dev/shm", "/var/tmp"):
        for path in Path(place).iterdir():
            with contextlib.suppress(FileNotFoundError):
                files += [path] * (path.lstat().st_uid in SANDBOX_USERS)
    mine = [path for path in Path("/proc/self/fd").iterdir() if path.exists()]
    own = {path.stat().st_ino for path in mine}
    lines = [
        line.split() for line in Path("/proc/net/unix").read_text().splitlines() if "attention-course-sandbox" in line
    ]
    sockets = sum(int(line[6]) in own for line in lines)
    return {"processes": processes, "files": files, "sockets": sockets, "open": len(os.listdir("/proc/self/fd"))}


def _is_ours_or_orphaned(process):
    """Another grader may be at work on this machine; its sandboxes are its own business."""
    with contextlib.suppress(psutil.NoSuchProcess):
        parents = process.parents()
        return psutil.Process() in parents or not any("python" in parent.name() for parent in parents)
    return False


@pytest.fixture(autouse=True, scope="module")
def own_folder(tmp_path_factory):
    """Whatever the grader writes for itself would lie here."""
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("own"))
    yield
    tempfile.tempdir = before


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_survives(case, graders):
    for grader, data in zip(graders, (case.data, NEIGHBOR), strict=True):
        grader.begin(data)
    result, neighbor = (grader.end() for grader in graders)
    for _ in range(20):  # a process may take a moment to be gone
        after = left_over()
        if not after["processes"]:
            break
        time.sleep(0.1)

    outcomes = {one["number"]: one["outcome"] for one in result["exercises"]}
    if case.lost is None:
        assert result["problem"] and not outcomes and result["earned"] == 0
    else:
        for number in handed_in.POINTS_01:
            wanted = case.lost.get(number, "right")
            allowed = (wanted,) if isinstance(wanted, str) else wanted
            message = next(one["message"] for one in result["exercises"] if one["number"] == number)
            assert outcomes[number] in allowed, f"{number}: {outcomes[number]}: {message}; {result['events']}"
        earned = sum(points for number, points in handed_in.POINTS_01.items() if outcomes[number] == "right")
        assert (result["earned"], result["total"]) == (earned, 24)
    for words in case.said:
        assert words in json.dumps(result, ensure_ascii=False), result
    assert "<script" not in page("student", "file", result)
    assert neighbor["earned"] == NEIGHBOR_EARNS and not neighbor["events"]
    assert after["processes"] == []
    assert after["sockets"] == 0
    assert after["files"] == []
    assert after["open"] <= OPEN_AT_MOST, "open files pile up"
    survived.append(case.name)
