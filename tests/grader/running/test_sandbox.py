"""What a sandbox shows and hides, and that it is gone when it is closed."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from course_grader.limits import Limits
from course_grader.running import sandbox as sandboxes
from course_grader.running.sandbox import NoSandbox, Sandbox

linux = pytest.mark.needs("sandbox")


@pytest.fixture
def sandbox():
    found = Sandbox(Limits(scratch_mb=3))
    yield found
    found.close()


@linux
def test_what_is_in_it(sandbox, root):
    inside = sandbox.path
    assert set(os.listdir(inside("/"))) >= {"usr", "tmp", "dev", "proc", "run"}
    assert os.listdir(inside("/tmp/work")) == [] and os.listdir(inside("/dev/shm")) == []
    assert inside(str(sandbox.library / "course_utils" / "masks.py")).is_file()
    for own in ("course_utils", "course_grader"):  # in an environment without a checkout they lie among the packages
        assert not inside(str(root / own)).exists() or os.listdir(inside(str(root / own))) == []
    for hidden in ("solutions", "exercises", "sources", "tests", "pyproject.toml"):
        assert not inside(str(root / hidden)).exists()
    assert not inside("/etc/passwd").exists() and not inside("/home").exists()
    assert inside(sys.executable).exists()


@linux
def test_folders_have_their_sizes(sandbox):
    for path in ("/tmp", "/dev/shm"):
        about = os.statvfs(sandbox.path(path))
        assert about.f_blocks * about.f_frsize == 3 * 2**20


@linux
def test_its_processes_are_seen_and_ended(sandbox):
    assert len(sandbox.processes()) >= 1
    family = [psutil.Process(sandbox.pid), psutil.Process(sandbox.process.pid)]
    sandbox.close()
    assert not any(process.is_running() and process.status() != "zombie" for process in family)
    assert sandbox.processes() == {}
    sandbox.close()  # a second time does nothing


@linux
def test_names_in_its_folders_count_as_memory(sandbox):
    before = sandbox.memory()
    for number in range(500):
        sandbox.path(f"/tmp/{number}").mkdir()
    assert sandbox.memory() - before >= 400 * 1024  # what it has open may change meanwhile


@linux
def test_two_sandboxes_have_two_users():
    first, second = Sandbox(Limits()), Sandbox(Limits())
    try:
        assert first.user is None or first.user != second.user
    finally:
        first.close()
        second.close()
    third = Sandbox(Limits())
    third.close()
    assert third.user == first.user


@linux
def test_it_dies_with_its_maker(root):
    code = (
        "import os; from course_grader.running.sandbox import Sandbox, Limits; print(Sandbox(Limits()).pid, flush=True)"
    )
    code += "; os.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=False)
    pid = int(done.stdout)
    for _ in range(100):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie":
            break
        time.sleep(0.05)
    else:
        pytest.fail("the sandbox outlived the process that made it")


@linux
def test_it_dies_with_its_maker_at_any_moment():
    """Killed twenty times while it opens and closes sandboxes, which are known by the size of their folders."""
    chance, size = random.Random(5), 7
    for _ in range(20):
        if (maker := os.fork()) == 0:
            try:
                while True:
                    Sandbox(Limits(scratch_mb=size)).close()
            finally:
                os._exit(1)
        time.sleep(chance.uniform(0.0, 0.15))
        os.kill(maker, signal.SIGKILL)
        os.waitpid(maker, 0)
    until = time.monotonic() + 3
    while left := [pid for pid in psutil.pids() if lives_in_a_sandbox_of(pid, size)]:
        assert time.monotonic() < until, [psutil.Process(pid).cmdline() for pid in left]
        time.sleep(0.05)


def lives_in_a_sandbox_of(pid, size):
    with contextlib.suppress(OSError, psutil.Error):
        about = os.statvfs(Path("/proc", str(pid), "root", "tmp"))
        if about.f_blocks * about.f_frsize == size * 2**20:
            return True
        return psutil.Process(pid).name() == "bwrap" and str(size * 2**20) in psutil.Process(pid).cmdline()
    return False


def test_without_bubblewrap_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(NoSandbox, match="apt-get install bubblewrap.*--no-sandbox"):
        Sandbox(Limits())


@linux
def test_where_bubblewrap_does_not_work_it_says_why(monkeypatch):
    monkeypatch.setattr(sandboxes, "command", lambda *_: ["bwrap", "--no-such-option"])
    with pytest.raises(NoSandbox, match="does not work here: bwrap: Unknown option"):
        Sandbox(Limits())
