"""The attacks (``make test-hostile``): each hostile submission beside an honest one, in the sandbox, for real.

After each: the score, the named cause, the neighbor's score, and that no process, file or socket is left.
"""

import contextlib
import json
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import handed_in
import psutil
import pytest
from cases import CRASHES, DECEPTIVE_ANSWERS, DISTURBANCES, ESCAPES, MESSAGES, TAMPERING, UNREADABLE, half_solved
from sandboxed import linux, make_settings, outcomes

from course_grader.grade import grade_one
from course_grader.limits import Limits
from course_grader.reports.pages import page

pytestmark = linux
CASES = [*TAMPERING, *CRASHES, *ESCAPES, *MESSAGES, *DECEPTIVE_ANSWERS, *DISTURBANCES, *UNREADABLE]
LIMITS = Limits(cell_s=6, notebook_s=90, memory_mb=1024)
NEIGHBOR = handed_in.as_bytes(half_solved())
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


@pytest.fixture(scope="module")
def graders(settings):
    """Two threads, one for the hostile submission and one for its neighbor, each with a fork server of its own, both warm."""
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        pair = [partial(thread.submit, grade_one, label="x.ipynb", settings=settings) for thread in (first, second)]
        for grader in pair:
            grader(NEIGHBOR).result()
        yield pair


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
    begun = [grader(data) for grader, data in zip(graders, (case.data, NEIGHBOR), strict=True)]
    result, neighbor = (grading.result() for grading in begun)
    for _ in range(20):  # a process may take a moment to be gone
        after = left_over()
        if not after["processes"]:
            break
        time.sleep(0.1)

    ended_as, allowed = outcomes(result), case.allowed()
    assert bool(result["problem"]) == (not allowed) and ended_as.keys() == allowed.keys()
    for exercise in result["exercises"]:
        assert exercise["outcome"] in allowed[exercise["number"]], (exercise, result["events"])
    earned = sum(points for number, points in handed_in.POINTS_01.items() if ended_as.get(number) == "right")
    assert (result["earned"], result["total"]) == (earned, 24 if allowed else 0)
    for words in case.words:
        assert words in json.dumps(result, ensure_ascii=False), result
    assert "<script" not in page("student", "file", result)
    assert neighbor["earned"] == NEIGHBOR_EARNS and not neighbor["events"]
    assert after["processes"] == []
    assert after["sockets"] == 0
    assert after["files"] == []
    assert after["open"] <= OPEN_AT_MOST, "open files pile up"
    survived.append(case.name)
