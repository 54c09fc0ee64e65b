"""A kernel for a submission: forked into a sandbox or started without one, watched, and gone when it is closed."""

import asyncio
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict

import psutil
import pytest
from sandboxed import linux

from course_grader.in_sandbox import forking
from course_grader.limits import Limits
from course_grader.running.fork_server import ForkServer, exit_status
from course_grader.running.kernel import Kernel
from course_grader.running.launch import PORTS, PlainKernel, SandboxedKernel
from course_grader.running.library_copy import library_copy
from course_grader.running.memory import memory_by_process
from course_grader.running.sandbox import GRADER, Sandbox
from course_grader.running.session import Session

CONNECTION = {**PORTS, "transport": "ipc", "ip": "/run/kernel/k", "key": "k", "signature_scheme": "hmac-sha256"}


@pytest.fixture
def own_fork_server():
    server = ForkServer()
    server.start()
    yield server
    server.close()


def test_what_the_fork_server_has_loaded_before_it_forks():
    """Nothing of the course: what a kernel has of it comes out of its library copy."""
    code = (
        "import importlib, json, sys\nfrom course_grader.in_sandbox import forking\n"
        "for name in forking.LOADED:\n    importlib.import_module(name)\n"
        "print(json.dumps([n for n in sys.modules if n.split('.')[0] in ('course_utils', 'course_grader', 'course_authoring')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=GRADER.parent, capture_output=True, text=True, check=True)
    modules = ("", ".privileges", ".forking", ".kernel_side", ".second_run")
    assert set(json.loads(done.stdout)) == {"course_grader", *(f"course_grader.in_sandbox{name}" for name in modules)}


@linux
def test_without_a_socket_the_fork_server_says_so_and_does_not_wait():
    command = [sys.executable, "-m", forking.__name__, "0"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, cwd=GRADER.parent, capture_output=True, timeout=60)
    assert done.returncode != 0


@linux
def test_a_forked_kernel_has_no_privileges_and_its_end_is_told(fork_server):
    limits = Limits()
    sandbox = Sandbox(limits)
    try:
        before = set(memory_by_process(sandbox.path("/proc")))
        report = fork_server.spawn(sandbox, CONNECTION, asdict(limits))
        (kernel,) = set(memory_by_process(sandbox.path("/proc"))) - before
        status = sandbox.path(f"/proc/{kernel}/status").read_text()
        assert "NoNewPrivs:\t1" in status and "CapEff:\t0000000000000000" in status
        environment = sandbox.path(f"/proc/{kernel}/environ").read_bytes()
        assert b"HOME" not in environment and b"VIRTUAL_ENV" not in environment
        assert not select.select([report], [], [], 0)[0]
    finally:
        sandbox.close()
    assert select.select([report], [], [], 10)[0]
    status = exit_status(report)
    os.close(report)
    assert os.WTERMSIG(status) == signal.SIGKILL


@linux
def test_a_fork_server_that_died_is_started_again(own_fork_server):
    own_fork_server.process.kill()
    own_fork_server.process.wait()
    sandbox = Sandbox(Limits())
    os.close(own_fork_server.spawn(sandbox, CONNECTION, asdict(Limits())))
    sandbox.close()
    with pytest.raises(RuntimeError, match="no kernel could be started"):
        own_fork_server.spawn(sandbox, CONNECTION, asdict(Limits()))


@linux
def test_a_fork_server_ends_with_its_socket_without_a_word(own_fork_server, capfd):
    report, end = os.pipe()
    request = {"pid": 2**22 + 1, "own_user": True, "user": None, "connection": CONNECTION, "limits": asdict(Limits())}
    socket.send_fds(own_fork_server.socket, [json.dumps(request).encode()], [end])
    assert select.select([own_fork_server.socket], [], [], 30)[0]  # there is no such sandbox: it says so
    own_fork_server.socket.close()
    assert own_fork_server.process.wait(30) == 0 and capfd.readouterr().err == ""
    os.close(report)
    os.close(end)


@linux
def test_a_sandboxed_kernel_from_start_to_end(fork_server, tmp_path, monkeypatch):
    library = library_copy(frozenset())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    kernel = SandboxedKernel(Limits(), library, fork_server)

    async def work():
        endpoints = await kernel.start()
        assert all(path.is_socket() for path in (endpoints.shell, endpoints.iopub, endpoints.control))
        assert not kernel.ended() and kernel.status is None
        before = len(os.listdir("/proc/self/fd"))
        await kernel.close()
        assert kernel.ended() and os.WTERMSIG(kernel.status) == signal.SIGKILL
        assert len(os.listdir("/proc/self/fd")) < before
        await kernel.close()  # a second time does nothing

    asyncio.run(work())
    assert os.listdir(tmp_path) == []


@linux
def test_a_kernel_that_ends_before_it_listens(fork_server):
    kernel = SandboxedKernel(Limits(open_files=6), library_copy(frozenset()), fork_server)  # too few for its sockets
    try:
        with pytest.raises(RuntimeError, match="the kernel did not start"):
            asyncio.run(kernel.start())
    finally:
        asyncio.run(kernel.close())


def test_a_plain_kernel_that_was_never_started_is_closed():
    kernel = PlainKernel(library_copy(frozenset()))
    asyncio.run(kernel.close())
    assert kernel.ended()


def ran(kernel, *texts):
    async def work():
        try:
            await kernel.start()
            return [await Session(kernel, kernel.limits).run_cell(text) for text in texts]
        finally:
            await kernel.close()

    return asyncio.run(work())


def in_the_future(seconds=300.0):
    """A deadline that nothing meets by accident: the fork server may have to load PyTorch first, on a busy machine."""
    return time.monotonic() + seconds


@linux
def test_in_the_sandbox(fork_server):
    before = len(os.listdir("/proc/self/fd"))
    kernel = Kernel(Limits(), in_the_future(), fork_server)
    results = ran(kernel, "x = 1", "assert x == 1", "raise ValueError('no')")
    ok = ("ok", "", "")
    assert [(cell.outcome, cell.name, cell.message) for cell in results] == [ok, ok, ("error", "ValueError", "no")]
    assert memory_by_process(kernel.sandbox.path("/proc")) == {} and len(os.listdir("/proc/self/fd")) <= before + 16


def test_without_a_sandbox():
    kernel = Kernel(Limits(), in_the_future(), None)
    child = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'])"
    (cell,) = ran(kernel, child)
    assert cell.outcome == "ok" and kernel.process.ended()
    assert not [p for p in psutil.Process().children(recursive=True) if "time.sleep(99)" in " ".join(p.cmdline())]
    assert not os.path.exists(kernel.process.manager.connection_file)


@linux
def test_the_deadline_ends_it(fork_server):
    kernel = Kernel(Limits(), in_the_future(3), fork_server)
    (cell,) = ran(kernel, "import time\ntime.sleep(99)")
    assert cell.fatal and kernel.reason == "notebook time limit"


SIX_PROCESSES = """
import ctypes, os, threading, time
exit_thread = lambda: ctypes.CDLL(None).syscall(60, 0)
def hold():
    x = bytearray(b"x") * 200_000_000
    time.sleep(99)
for _ in range(6):
    if not os.fork():
        hold()
time.sleep(99)
"""
THREAD_INSTEAD = "threading.Thread(target=hold).start(), exit_thread()\ntime"
FULL_SOCKETS = """
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


@linux
@pytest.mark.parametrize(
    ("text", "limits"),
    [
        (SIX_PROCESSES, Limits(memory_mb=1000)),
        # A process whose first thread has ended shows no memory of its own.
        (
            SIX_PROCESSES.replace("hold()\ntime", THREAD_INSTEAD),
            Limits(memory_mb=1000),
        ),
        # What is in sockets belongs to no process.
        (FULL_SOCKETS, Limits(memory_mb=700, open_files=512)),
    ],
    ids=["processes", "processes whose leaders have ended", "sockets"],
)
def test_memory_ends_it_whoever_holds_it(fork_server, text, limits):
    kernel = Kernel(limits, in_the_future(), fork_server)
    (cell,) = ran(kernel, text)
    assert cell.fatal and kernel.reason == "memory", (cell, kernel.reason)


@linux
def test_pages_that_many_processes_share_count_once(fork_server):
    kernel = Kernel(Limits(memory_mb=1000), in_the_future(), fork_server)
    pool = "import multiprocessing, time\nwith multiprocessing.get_context('fork').Pool(12) as pool:\n    "
    text = "kept = bytearray(b'x') * 100_000_000\n" + pool + "pool.map(abs, range(100))\n    time.sleep(1)"
    (cell,) = ran(kernel, text)
    assert cell.outcome == "ok", (cell, kernel.reason)
