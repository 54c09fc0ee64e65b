"""Work that takes too long, too much or ends its process costs an answer, never the caller."""

import os
import signal
import sys
import threading
import time

import psutil
import pytest

from course_grader.bounded import LimitExceeded, bounded, time_limit
from course_grader.limits import Limits

alarms = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms on Windows")
linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")


def fails():
    raise LookupError("nothing here")


def test_what_it_returns_or_raises_comes_back():
    assert bounded(lambda a, b: a + b, 2, 3) == 5
    assert bounded(lambda: "x" * 10**7) == "x" * 10**7
    with pytest.raises(LookupError, match="nothing here"):
        bounded(fails)


@linux
@pytest.mark.parametrize(
    ("work", "limits", "message"),
    [
        (lambda: time.sleep(30), {"seconds": 0.2}, "longer than 0.2 s"),
        (lambda: bytes(2**27), {"memory_mb": 64}, "64 MiB"),
        (lambda: os._exit(3), {}, "ended"),
    ],
)
def test_what_exceeds_its_limits_is_ended(work, limits, message):
    started = time.monotonic()
    with pytest.raises(LimitExceeded, match=message):
        bounded(work, **limits)
    assert time.monotonic() - started < 20


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
    done = []

    def work():
        with time_limit(0.05):
            spin(0.2)
            done.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["done"]


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


@pytest.mark.parametrize("name", ["cell_s", "memory_mb", "processes"])
def test_a_limit_of_nothing_is_refused(name):
    with pytest.raises(ValueError, match=rf"{name} \(0\) must be more than 0"):
        Limits(**{name: 0})
    assert Limits(restarts=0).restarts == 0
