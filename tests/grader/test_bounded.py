"""Work that takes too long, too much or ends its process costs an answer, never the caller."""

import os
import sys
import time

import psutil
import pytest

from course_grader.bounded import TooMuch, bounded

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
    with pytest.raises(TooMuch, match="longer than 0.2 s"):
        bounded(time.sleep, 30, seconds=0.2)
    assert time.monotonic() - started < 10


@linux
def test_memory():
    with pytest.raises(TooMuch, match="64 MiB"):
        bounded(lambda: bytes(2**27), memory_mb=64)


@linux
def test_a_process_that_ends():
    with pytest.raises(TooMuch, match="ended"):
        bounded(os._exit, 3)


@linux
def test_much_comes_back_whole():
    assert bounded(lambda: "x" * 10**7) == "x" * 10**7


@linux
def test_no_process_and_no_file_is_left():
    before = set(os.listdir("/proc/self/fd")), psutil.Process().children()
    for _ in range(3):
        with pytest.raises(TooMuch):
            bounded(time.sleep, 30, seconds=0.05)
    assert (set(os.listdir("/proc/self/fd")), psutil.Process().children()) == before
