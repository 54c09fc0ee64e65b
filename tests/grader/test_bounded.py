"""Work that takes too long, too much or ends its process costs an answer, never the caller, whatever thread asks."""

import os
import signal
import sys
import threading
import time

import psutil
import pytest

from course_grader.bounded import BoundedProcess, LimitExceeded, bounded, own_process

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
SEEN = []


@pytest.fixture
def process():
    made = BoundedProcess(memory_mb=64)
    yield made
    made.close()


def fails(problem):
    raise problem


def spin(seconds=30.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def takes(mib):
    return len(bytearray(mib * 2**20)) // 2**20


def remember(item):
    SEEN.append(item)
    return os.getpid(), list(SEEN)


def in_a_thread(work):
    """What ``work()`` returns or raises in another thread."""
    outcomes = []

    def run():
        try:
            outcomes.append(work())
        except Exception as problem:
            outcomes.append(problem)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return outcomes[0]


def test_what_it_returns_or_raises_comes_back(process):
    assert bounded(lambda a, b: a + b, 2, 3) == 5
    assert bounded(lambda: "x" * 10**7) == "x" * 10**7
    for problem in (LookupError("nothing here"), EOFError("a short archive"), OSError(5, "a bad disk")):
        for run in (bounded, process.do, process.do):
            with pytest.raises(type(problem), match=str(problem.args[-1])):
                run(fails, problem)


@linux
@pytest.mark.parametrize("where", [lambda work: work(), in_a_thread], ids=["main thread", "another"])
@pytest.mark.parametrize(
    ("work", "limits", "message"),
    [
        (lambda: time.sleep(30), {"seconds": 0.2}, "longer than 0.2 s"),
        (spin, {"seconds": 0.2}, "longer than 0.2 s"),
        (lambda: bytes(2**27), {"memory_mb": 64}, "64 MiB"),
        (lambda: os._exit(3), {}, "ended"),
        (lambda: lambda: 0, {}, "ended"),  # what cannot be sent back
    ],
)
def test_what_exceeds_its_limits_is_ended(where, work, limits, message):
    started = time.monotonic()

    def run():
        with pytest.raises(LimitExceeded, match=message):
            bounded(work, **limits)
        return "ended"

    assert where(run) == "ended" and time.monotonic() - started < 20


@linux
def test_a_process_is_kept_until_it_is_ended(process):
    first, _ = process.do(remember, "a")
    assert process.do(remember, "b") == (first, ["a", "b"]) and SEEN == [] and first != os.getpid()
    with pytest.raises(LimitExceeded, match=r"longer than 0\.2 s"):
        process.do(spin, seconds=0.2)
    assert not psutil.pid_exists(first)
    second, seen = process.do(remember, "c")
    assert seen == ["c"]
    os.kill(second, signal.SIGKILL)
    third, seen = process.do(remember, "d")  # what it did before is not this work's fault
    assert seen == ["d"] and third not in (first, second)


@linux
def test_memory_is_given_back_between_two_works(process):
    for _ in range(5):
        assert process.do(takes, 50) == 50
    with pytest.raises(LimitExceeded, match="64 MiB"):
        process.do(takes, 128)


@linux
def test_each_thread_has_a_process_of_its_own():
    here = own_process()
    assert own_process() is here and in_a_thread(own_process) is not here

    def pid_twice():
        first = own_process().do(os.getpid)
        in_a_thread(lambda: bounded(int))  # a copy of this process ends nobody else's
        return first, own_process().do(os.getpid)

    first, second = in_a_thread(pid_twice)
    assert first == second != here.do(os.getpid)
    assert not psutil.pid_exists(first)  # its thread is gone


@linux
def test_no_process_and_no_file_is_left():
    def state():
        return set(os.listdir("/proc/self/fd")), psutil.Process().children()

    before = state()
    for _ in range(3):
        with pytest.raises(LimitExceeded):
            bounded(time.sleep, 30, seconds=0.05)
        BoundedProcess().do(int)
    assert state() == before


@linux
@pytest.mark.parametrize("work", [spin, int], ids=["at work", "idle"])
def test_a_process_whose_owner_died_ends_by_itself(work):
    read, write = os.pipe()
    if (owner := os.fork()) == 0:
        try:
            process = BoundedProcess()
            os.write(write, str(process.do(os.getpid)).encode())
            process.do(work, seconds=0.5)
            time.sleep(30)
        finally:
            os._exit(0)
    os.read(read, 20)
    os.kill(owner, signal.SIGKILL)
    os.waitpid(owner, 0)
    os.close(write)
    assert os.read(read, 1) == b""  # end of file: nobody holds the other end any more
    os.close(read)


@linux
def test_ctrl_c_in_the_middle_of_a_fork_is_heard(ctrl_c):
    """Python ignores what is raised in functions that it calls at a fork, a Ctrl-C too."""
    interrupts = [signal.SIGINT]
    os.register_at_fork(after_in_parent=lambda: interrupts and signal.raise_signal(interrupts.pop()))
    process = BoundedProcess()
    with pytest.raises(KeyboardInterrupt):
        process.do(os.getpid)
    assert not interrupts and process.do(os.getpid) != os.getpid()
    process.close()
