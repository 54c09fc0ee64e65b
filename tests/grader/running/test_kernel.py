"""A kernel for a submission: watched, and gone when it is closed, with a sandbox and without."""

import asyncio
import os
import time

import psutil
import pytest
from sandboxed import linux

from course_grader.limits import Limits
from course_grader.running.fork_server import ForkServer
from course_grader.running.kernel import Kernel
from course_grader.running.session import Session


@pytest.fixture(scope="module")
def fork_server():
    found = ForkServer()
    yield found
    found.close()


SPREAD = """
import ctypes, os, threading, time
leave = ctypes.CDLL(None).syscall
def hold():
    x = bytearray(b"x") * 200_000_000
    time.sleep(99)
for _ in range(6):
    if not os.fork():
        hold()
time.sleep(99)
"""
SOCKETS = """
import os, socket, time
for _ in range(20):
    if not os.fork():
        kept = [socket.socketpair() for _ in range(150)]
        for pair in kept:
            for end in pair:
                end.setblocking(False)
                try:
                    while True:
                        end.send(b"x" * 100_000)
                except BlockingIOError:
                    pass
        time.sleep(99)
time.sleep(99)
"""


async def ran(kernel, *texts, limits=None):
    try:
        await kernel.start()
        session = Session(kernel, limits or kernel.limits)
        return [await session.run_cell(text) for text in texts]
    finally:
        await kernel.close()


def in_the_future(seconds=300.0):
    """A deadline that nothing meets by accident: the fork server may have to load PyTorch first, on a busy machine."""
    return time.monotonic() + seconds


@linux
def test_in_the_sandbox(fork_server):
    before = len(os.listdir("/proc/self/fd"))
    kernel = Kernel(Limits(), in_the_future(), fork_server)
    found = asyncio.run(ran(kernel, "x = 1", "assert x == 1", "raise ValueError('no')"))
    assert [(one.outcome, one.name, one.message) for one in found] == [
        ("ok", "", ""),
        ("ok", "", ""),
        ("error", "ValueError", "no"),
    ]
    assert kernel.sandbox.processes() == {} and len(os.listdir("/proc/self/fd")) <= before + 16


def test_without_a_sandbox():
    kernel = Kernel(Limits(), in_the_future(), None)
    (found,) = asyncio.run(
        ran(
            kernel,
            "import os, subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'])",
        )
    )
    assert found.outcome == "ok"
    assert not [p for p in psutil.Process().children(recursive=True) if "time.sleep(99)" in " ".join(p.cmdline())]
    assert not os.path.exists(kernel.process.manager.connection_file)


@linux
def test_the_deadline_ends_it(fork_server):
    kernel = Kernel(Limits(), in_the_future(3), fork_server)
    (found,) = asyncio.run(ran(kernel, "import time\ntime.sleep(99)"))
    assert found.fatal and kernel.reason == "notebook time limit"


@linux
def test_memory_over_several_processes_ends_it(fork_server):
    kernel = Kernel(Limits(memory_mb=1000), in_the_future(), fork_server)
    (found,) = asyncio.run(ran(kernel, SPREAD))
    assert found.fatal and kernel.reason == "memory"


@linux
def test_memory_behind_leaders_that_have_ended_ends_it(fork_server):
    """A process whose first thread has ended shows no memory of its own."""
    kernel = Kernel(Limits(memory_mb=1000), in_the_future(), fork_server)
    (found,) = asyncio.run(
        ran(
            kernel,
            SPREAD.replace("        hold()", "        threading.Thread(target=hold).start()\n        leave(60, 0)"),
        )
    )
    assert found.fatal and kernel.reason == "memory"


@linux
def test_pages_that_many_processes_share_count_once(fork_server):
    kernel = Kernel(Limits(memory_mb=1000), in_the_future(), fork_server)
    text = "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(12) as pool:\n    pool.map(abs, range(100))\n"
    (found,) = asyncio.run(
        ran(kernel, "kept = bytearray(b'x') * 100_000_000\n" + text + "    import time; time.sleep(1)")
    )
    assert found.outcome == "ok", (found, kernel.reason)


@linux
def test_what_the_system_keeps_for_it_counts(fork_server):
    """Full sockets belong to no process."""
    kernel = Kernel(Limits(memory_mb=700, open_files=512), in_the_future(), fork_server)
    (found,) = asyncio.run(ran(kernel, SOCKETS))
    assert found.fatal and kernel.reason == "memory", (found, kernel.reason)
