"""A generated class whose scores are known: the same with one job, two, a cluster, and a grader that is killed ten times."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time

import handed_in
import psutil
import pytest
from cases import CRASHES, DECEPTIVE_ANSWERS, MESSAGES, TAMPERING, UNREADABLE
from sandboxed import linux

from benchmarks.grading import LESSON, generate

SIZE, KILLS = 24, 10
pytestmark = linux
COMMAND = [sys.executable, "-m", "course_grader"]


@pytest.fixture(scope="module")
def a_class(tmp_path_factory):
    """The folder, and what each student earns."""
    folder = tmp_path_factory.mktemp("class") / "handed in"
    return folder, generate(folder, SIZE)


def command(a_class, output, *options):
    return [*COMMAND, str(a_class[0]), "--output", str(output), "--lesson", LESSON, "--cell-limit", "8", *options]


def scores(output):
    with open(output / "grades.csv", newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert len({row["student"] for row in rows}) == len(rows), "a row was doubled"
    return {row["student"]: points(row) for row in rows}


def points(row):
    """A file that could not be read has no total, rather than 0, and a note that says why."""
    statuses = {value for name, value in row.items() if name.endswith(" status")}
    assert (row["total"] == "") == (statuses == {"unreadable"} and row["notes"] != ""), row
    return int(row["total"] or 0)


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_scores_are_those_counted_by_hand(a_class, tmp_path, jobs):
    subprocess.run(command(a_class, tmp_path / "out", "--jobs", str(jobs)), cwd=handed_in.ROOT, check=True)
    assert scores(tmp_path / "out") == a_class[1]


@pytest.mark.slow
def test_scores_on_a_cluster(a_class, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        options = ("--scheduler", cluster.scheduler_address)
        subprocess.run(command(a_class, tmp_path / "out", *options), cwd=handed_in.ROOT, check=True)
    assert scores(tmp_path / "out") == a_class[1]


@pytest.mark.slow
def test_scores_after_ten_kills(a_class, tmp_path):
    """``kill -9`` of the grader at random moments; after each, every file is whole and nothing runs on."""
    output, chance = tmp_path / "out", random.Random(time.time_ns())
    killed, finished_early = 0, 0
    while killed < KILLS and finished_early < 3:
        grader = subprocess.Popen(command(a_class, output), cwd=handed_in.ROOT, start_new_session=True)
        family = []
        until = time.monotonic() + chance.uniform(0.5, 9.0)
        while time.monotonic() < until and grader.poll() is None:
            family = psutil.Process(grader.pid).children(recursive=True) or family
            time.sleep(0.05)
        if grader.poll() is not None:
            finished_early += 1
            continue
        os.kill(grader.pid, signal.SIGKILL)
        grader.wait()
        killed += 1
        gone, alive = psutil.wait_procs(family, timeout=15)
        assert not alive, [" ".join(process.cmdline())[:100] for process in alive]
        for path in output.glob("results/*.json"):
            json.loads(path.read_text(encoding="utf-8"))
            assert (output / "feedback" / f"{path.stem}.html").read_text(encoding="utf-8").endswith("</html>\n")
    print(f"\nkilled {killed} times")
    subprocess.run(command(a_class, output), cwd=handed_in.ROOT, check=True)
    assert scores(output) == a_class[1]
    assert not list(output.rglob(".part-*"))
    assert len(list(output.glob("results/*.json"))) == SIZE


def test_ctrl_c_stops_cleanly_and_goes_on_later(a_class, tmp_path):
    output = tmp_path / "out"
    grader = subprocess.Popen(
        command(a_class, output),
        cwd=handed_in.ROOT,
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs the tests with & has switched Ctrl-C off for them and for all that they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while not list(output.glob("results/*.json")):
        time.sleep(0.1)
    family = psutil.Process(grader.pid).children(recursive=True)
    os.killpg(grader.pid, signal.SIGINT)
    errors = grader.communicate(timeout=30)[1]
    assert grader.returncode == 130 and "stopped; run the same command again" in errors and "Traceback" not in errors
    assert not psutil.wait_procs(family, timeout=15)[1]


def certain():
    """Hostile and broken files whose points can be counted beforehand, none of which waits for a time limit."""
    waits = ("time limit", "did not finish", "for ever", "without end", "never", "memory", "bomb")
    for case in (*TAMPERING, *CRASHES, *MESSAGES, *DECEPTIVE_ANSWERS, *UNREADABLE):
        if any(word in text for word in waits for text in (case.name, *case.words)):
            continue
        allowed = case.allowed()
        if all(outcomes == ("right",) or "right" not in outcomes for outcomes in allowed.values()):
            yield case, sum(handed_in.POINTS_01[number] for number in allowed if allowed[number] == ("right",))


@pytest.mark.slow
def test_a_class_in_which_every_second_is_hostile(tmp_path):
    folder, output = tmp_path / "handed in", tmp_path / "out"
    hostile = list(certain())
    earned, names = generate(folder, 2 * len(hostile)), {}
    for student, (case, points_of_case) in zip(sorted(earned)[1::2], hostile, strict=True):
        earned[student] = points_of_case
        names[student] = case.name
        (folder / student / f"{handed_in.LESSON_01}.ipynb").write_bytes(case.data)
    command = [*COMMAND, str(folder), "--output", str(output), "--lesson", LESSON, "--cell-limit", "8"]
    subprocess.run(command, cwd=handed_in.ROOT, check=True, timeout=2400)
    got = scores(output)
    assert got.keys() == earned.keys()
    assert {s: (names.get(s), got[s], earned[s]) for s in earned if got[s] != earned[s]} == {}
    for path in output.glob("results/*.json"):  # who has not all points can read why
        result = json.loads(path.read_text(encoding="utf-8"))
        if result["problem"] or result["earned"] == result["total"]:
            continue
        assert all(one["message"] for one in result["exercises"] if not one["earned"]), result["student"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_gets_the_same_scores(a_class, tmp_path):
    """In a user namespace, where this machine allows one."""
    user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    for path in (tmp_path, *tmp_path.parents):
        if path != path.parent and path.stat().st_uid == os.geteuid() and path.is_relative_to("/tmp/pytest-of-root"):
            path.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    for path in (a_class[0], *a_class[0].parents):
        if path.is_relative_to("/tmp/pytest-of-root"):
            path.chmod(0o755)
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    able = subprocess.run([*user, "bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"], capture_output=True)
    python = subprocess.run(
        [*user, sys.executable, "-c", "import sys; print(sys.base_prefix)"], capture_output=True, text=True
    )
    if python.stdout.strip() != sys.base_prefix:
        pytest.skip("an ordinary user cannot read this Python's own folder")
    if able.returncode:
        pytest.skip(f"an ordinary user gets no sandbox here: {able.stderr.decode()[:100]}")
    arguments = command(a_class, home / "out", "--jobs", "2")
    grader = subprocess.run(
        [*user, *arguments], cwd=handed_in.ROOT, env=environment, capture_output=True, text=True, timeout=600
    )
    assert grader.returncode == 0, grader.stderr
    assert scores(home / "out") == a_class[1]
