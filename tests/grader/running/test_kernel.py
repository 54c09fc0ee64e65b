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


async def ran(kernel, *texts, limits=None):
    try:
        await kernel.start()
        session = Session(kernel, limits or kernel.limits)
        return [await session.run_cell(text) for text in texts]
    finally:
        await kernel.close()


def in_the_future(seconds=60.0):
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
    fork = "import os, time\nfor _ in range(4):\n    if not os.fork():\n"
    fork += "        x = bytearray(b'x') * 400_000_000\n        time.sleep(99)\n"
    text = fork + "time.sleep(99)"
    (found,) = asyncio.run(ran(kernel, text))
    assert found.fatal and kernel.reason == "memory"
