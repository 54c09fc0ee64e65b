"""Work that takes too long, too much or ends its process costs an answer, never the caller."""

import os
import signal
import sys
import threading
import time

import psutil
import pytest

from course_grader.bounded import LimitExceeded, bounded, time_limit

alarms = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms on Windows")
linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")


def test_what_it_returns_comes_back():
    assert bounded(lambda a, b: {"sum": a + b, "pid": os.getpid() != os.getppid()}, 2, 3)["sum"] == 5


@linux
def test_it_is_another_process():
    assert bounded(os.getpid) != os.getpid()


def fails():
    raise LookupError("nothing here")


def test_what_it_raises_comes_back():
    with pytest.raises(LookupError, match="nothing here"):
        bounded(fails)


@linux
def test_time():
    started = time.monotonic()
    with pytest.raises(LimitExceeded, match="longer than 0.2 s"):
        bounded(time.sleep, 30, seconds=0.2)
    assert time.monotonic() - started < 20


@linux
def test_memory():
    with pytest.raises(LimitExceeded, match="64 MiB"):
        bounded(lambda: bytes(2**27), memory_mb=64)


@linux
def test_a_process_that_ends():
    with pytest.raises(LimitExceeded, match="ended"):
        bounded(os._exit, 3)


@linux
def test_much_comes_back_whole():
    assert bounded(lambda: "x" * 10**7) == "x" * 10**7


@linux
def test_no_process_and_no_file_is_left():
    before = set(os.listdir("/proc/self/fd")), psutil.Process().children()
    for _ in range(3):
        with pytest.raises(LimitExceeded):
            bounded(time.sleep, 30, seconds=0.05)
    assert (set(os.listdir("/proc/self/fd")), psutil.Process().children()) == before


def spin(seconds=30.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


@alarms
def test_what_takes_too_long_is_ended():
    started = time.monotonic()
    with pytest.raises(LimitExceeded, match=r"longer than 0\.2 s"), time_limit(0.2):
        spin()
    assert time.monotonic() - started < 20


@alarms
def test_who_catches_the_end_meets_another(monkeypatch):
    monkeypatch.setattr("course_grader.bounded.AGAIN_S", 0.1)

    def stubborn():
        try:
            spin()
        except LimitExceeded:
            spin()

    with pytest.raises(LimitExceeded), time_limit(0.1):
        stubborn()


@alarms
def test_nothing_is_left_when_it_was_in_time():
    before = signal.getsignal(signal.SIGALRM)
    with time_limit(5):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 4
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0) and signal.getsignal(signal.SIGALRM) == before


@alarms
@pytest.mark.parametrize(("outer", "inner"), [(0.2, 20.0), (20.0, 0.2)])
def test_of_two_bounds_the_earlier_one_ends_it(outer, inner):
    started = time.monotonic()
    with pytest.raises(LimitExceeded, match=r"0\.2 s"), time_limit(outer), time_limit(inner):
        spin()
    assert time.monotonic() - started < 20

    def after_a_bound():
        with time_limit(0.1):
            pass
        spin()

    with pytest.raises(LimitExceeded, match=r"0\.4 s"), time_limit(0.4):
        after_a_bound()


def test_in_another_thread_it_does_nothing():
    found = []

    def work():
        with time_limit(0.05):
            spin(0.2)
            found.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == ["done"]


@linux
def test_a_child_whose_parent_died_ends_by_itself():
    read, write = os.pipe()
    if (parent := os.fork()) == 0:
        try:
            bounded(lambda: (os.write(write, str(os.getpid()).encode()), spin()), seconds=0.5)
        finally:
            os._exit(0)
    child = int(os.read(read, 20))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    os.close(write)
    assert os.read(read, 1) == b""  # end of file: nobody holds the other end any more
    os.close(read)
    assert child != parent
