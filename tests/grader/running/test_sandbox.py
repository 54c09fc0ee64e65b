"""What a sandbox shows and hides, what memory it holds, and that it is gone when it is closed."""

import contextlib
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest
from sandboxed import linux

from course_grader.limits import Limits
from course_grader.running import sandbox as sandboxes
from course_grader.running.memory import KERNEL_BUFFERS, PSS_FIELDS, memory_by_process, memory_used
from course_grader.running.sandbox import NoSandbox, Sandbox


@pytest.fixture
def sandbox():
    made = Sandbox(Limits(scratch_mb=3))
    yield made
    made.close()


@linux
def test_what_is_in_it(sandbox, root):
    inside = sandbox.path
    assert set(os.listdir(inside("/"))) >= {"usr", "tmp", "dev", "proc"}
    assert os.listdir(inside("/tmp/work")) == [] and os.listdir(inside("/dev/shm")) == []
    assert inside(str(sandbox.library / "course_utils" / "masks.py")).is_file()
    for own in ("course_utils", "course_grader"):  # in an environment without a checkout they lie among the packages
        assert not inside(str(root / own)).exists() or os.listdir(inside(str(root / own))) == []
    for hidden in ("solutions", "exercises", "sources", "tests", "pyproject.toml"):
        assert not inside(str(root / hidden)).exists()
    assert not inside("/etc/passwd").exists() and not inside("/home").exists()
    assert inside(sys.executable).exists()
    for path in ("/tmp", "/dev/shm"):
        about = os.statvfs(inside(path))
        assert about.f_blocks * about.f_frsize == 3 * 2**20


@linux
def test_its_processes_are_seen_and_ended(sandbox):
    assert len(memory_by_process(sandbox.path("/proc"))) >= 1
    family = [psutil.Process(sandbox.pid), psutil.Process(sandbox.process.pid)]
    sandbox.close()
    assert not any(process.is_running() and process.status() != "zombie" for process in family)
    assert memory_by_process(sandbox.path("/proc")) == {}
    sandbox.close()  # a second time does nothing


@linux
def test_names_in_its_folders_count_as_memory(sandbox):
    before = sandbox.memory()
    for number in range(3_000):
        sandbox.path(f"/tmp/{number}").mkdir()
    assert sandbox.memory() - before >= 2_000 * 1024  # its own processes and open files may shrink meanwhile


@linux
def test_two_sandboxes_have_two_users(monkeypatch):
    monkeypatch.setattr(sandboxes, "FIRST_USER", 64_900)  # no other grader on this machine comes so far
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


KIB = 1024


def process(proc, number, *threads, rollup=True):
    """Threads: (KiB by status or None where it has ended, KiB by smaps_rollup)."""
    for place, (each, shared_out) in enumerate(threads):
        thread = proc / str(number) / "task" / str(number + place)
        (thread / "fd").mkdir(parents=True)
        status = "Name:\tx\n" + (f"RssAnon:\t{each} kB\nRssFile:\t7 kB\nVmSwap:\t5 kB\n" if each is not None else "")
        (thread / "status").write_text(status)
        if rollup:
            (thread / "smaps_rollup").write_text(f"Rss: 9 kB\nPss_Anon: {shared_out} kB\n" if each is not None else "")


def test_each_process_once_by_a_thread_that_lives(tmp_path):
    process(tmp_path, 1, (100, 40), (100, 40))
    process(tmp_path, 7, (None, None), (300, 200))
    process(tmp_path, 9, (None, None))
    (tmp_path / "self").mkdir()
    assert memory_by_process(tmp_path) == {1: 105 * KIB, 7: 305 * KIB, 9: 0}
    assert memory_by_process(tmp_path, PSS_FIELDS) == {1: 40 * KIB, 7: 200 * KIB, 9: 0}


def test_a_process_that_shut_itself_off_counts_in_full(tmp_path, monkeypatch):
    process(tmp_path, 1, (100, 40))
    read = type(tmp_path).read_text

    def closed(path):
        if path.name == "smaps_rollup":
            raise PermissionError
        return read(path)

    monkeypatch.setattr(type(tmp_path), "read_text", closed)
    assert memory_by_process(tmp_path, PSS_FIELDS) == {1: 105 * KIB}


def test_what_several_have_open_counts_once(tmp_path):
    process(tmp_path, 1, (0, 1), (0, 1))
    process(tmp_path, 5, (0, 1))
    for table in tmp_path.glob("*/task/*/fd"):
        for number, name in enumerate(("socket:[1]", "socket:[2]", "pipe:[3]", "/dev/null")):
            os.symlink(name, table / str(number))
    kept = 2 * KERNEL_BUFFERS["socket:"] + KERNEL_BUFFERS["pipe:"]
    assert memory_used(tmp_path, (), kept) == kept + 2 * KIB
    assert memory_used(tmp_path, (), kept - 1) == kept  # more than it may: what its processes hold need not be known


def test_a_sandbox_that_is_gone_holds_nothing(tmp_path):
    gone = tmp_path / "gone"
    assert memory_by_process(gone) == {} and memory_used(gone, (gone,), 10) == 0
