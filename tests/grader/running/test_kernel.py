"""A kernel for a submission: forked into a sandbox or started without one, watched, and gone when it is closed."""

import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest
from sandboxed import linux

from course_grader.in_sandbox import forking
from course_grader.limits import MAX_JSON_VALUES, Limits
from course_grader.running.kernel import Kernel, plain
from course_grader.running.launch import ForkServer, PlainKernel
from course_grader.running.library_copy import library_copy
from course_grader.running.memory import memory_by_process
from course_grader.running.sandbox import GRADER, Sandbox


def spawned(fork_server, sandbox, limits=None):
    """A kernel's report and the two ends of its pipes."""
    (cells, own_end), (own_start, replies) = os.pipe(), os.pipe()
    try:
        return fork_server.spawn(sandbox, cells, replies, asdict(limits or Limits())), own_end, own_start
    finally:
        os.close(cells)
        os.close(replies)


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
    modules = ("", ".privileges", ".forking", ".kernel_side", ".second_run", ".watch")
    assert set(json.loads(done.stdout)) == {"course_grader", *(f"course_grader.in_sandbox{name}" for name in modules)}


@linux
def test_without_a_socket_the_fork_server_says_so_and_does_not_wait():
    command = [sys.executable, "-m", forking.__name__, "0"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, cwd=GRADER.parent, capture_output=True, timeout=60)
    assert done.returncode != 0


@linux
def test_a_forked_kernel_has_no_privileges_and_its_end_is_told(fork_server):
    sandbox = Sandbox(Limits())
    try:
        before = set(memory_by_process(sandbox.path("/proc")))
        report, *ends = spawned(fork_server, sandbox)
        (kernel,) = set(memory_by_process(sandbox.path("/proc"))) - before
        status = sandbox.path(f"/proc/{kernel}/status").read_text()
        assert "NoNewPrivs:\t1" in status and "CapEff:\t0000000000000000" in status
        environment = sandbox.path(f"/proc/{kernel}/environ").read_bytes()
        assert b"HOME" not in environment and b"VIRTUAL_ENV" not in environment
        assert not select.select([report], [], [], 0)[0]
    finally:
        sandbox.close()
    assert select.select([report], [], [], 10)[0]
    (status,) = struct.unpack("=i", os.read(report, 4))
    for descriptor in (report, *ends):
        os.close(descriptor)
    assert os.WTERMSIG(status) == signal.SIGKILL


@linux
def test_a_fork_server_that_died_is_started_again(own_fork_server):
    own_fork_server.process.kill()
    own_fork_server.process.wait()
    sandbox = Sandbox(Limits())
    for descriptor in spawned(own_fork_server, sandbox):
        os.close(descriptor)
    sandbox.close()
    with pytest.raises(RuntimeError, match="no kernel could be started"):
        spawned(own_fork_server, sandbox)


@linux
def test_a_fork_server_ends_with_its_socket_without_a_word(own_fork_server, capfd):
    report, end = os.pipe()
    request = {"pid": 2**22 + 1, "own_user": True, "user": None, "limits": asdict(Limits())}
    socket.send_fds(own_fork_server.socket, [json.dumps(request).encode()], [end] * 3)
    assert select.select([own_fork_server.socket], [], [], 30)[0]  # there is no such sandbox: it says so
    own_fork_server.socket.close()
    assert own_fork_server.process.wait(30) == 0 and capfd.readouterr().err == ""
    os.close(report)
    os.close(end)


@linux
def test_a_kernel_that_ends_before_it_is_ready(fork_server):
    kernel = Kernel(Limits(open_files=6), in_the_future(), fork_server)  # too few to import anything
    try:
        with pytest.raises(RuntimeError, match="the kernel did not start"):
            kernel.start()
    finally:
        kernel.close()


def test_a_plain_kernel_that_was_never_started_is_closed():
    kernel = PlainKernel(library_copy(frozenset()))
    kernel.close()
    assert kernel.ended()


def ran(kernel, *texts):
    try:
        kernel.start()
        return [kernel.run_cell(text) for text in texts]
    finally:
        kernel.close()


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
    assert (
        memory_by_process(kernel.sandbox.path("/proc")) == {} and len(os.listdir("/proc/self/fd")) <= before + 1
    )  # the fork server's socket
    assert kernel.process.ended() and os.WTERMSIG(kernel.process.status) == signal.SIGKILL


def test_without_a_sandbox():
    kernel = Kernel(Limits(), in_the_future(), None)
    child = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'])"
    (cell,) = ran(kernel, child)
    assert cell.outcome == "ok" and kernel.process.ended()
    assert not [p for p in psutil.Process().children(recursive=True) if "time.sleep(99)" in " ".join(p.cmdline())]


SAY = "__import__('course_grader.in_sandbox.kernel_side', fromlist=['x']).say({})"


@linux
def test_what_is_said_comes_with_its_own_cell_only(fork_server):
    texts = (SAY.format("1"), "1 + 1", "raise ValueError('a\\x1b[2J\\nb' * 1000)", "print('x' * 10**7)", "1 / 0 if")
    cells = ran(Kernel(Limits(), in_the_future(), fork_server), *texts)
    assert [cell.payload for cell in cells] == [1, None, None, None, None]
    assert cells[2].message.isprintable() and len(cells[2].message) <= 400  # no escape codes
    assert [cell.outcome for cell in cells] == ["ok", "ok", "error", "ok", "error"] and cells[4].name == "SyntaxError"


@linux
def test_a_cell_runs_as_in_jupyter(fork_server):
    texts = (
        "import asyncio\nloop = asyncio.get_running_loop()",
        "await asyncio.sleep(0)\nassert asyncio.get_running_loop() is loop",
        "%matplotlib inline\n%config InlineBackend.figure_format = 'svg'\nimport matplotlib.pyplot as p\np.plot([1]); p.show()",
        "import ipywidgets\nipywidgets.IntSlider()\n%timeit -n 1 -r 1 1\n?print\n!echo 1",
        "input('?')",
        "exit()",
        "get_ipython().events.register('post_run_cell', lambda result: seen.append(result)); seen = []",
        "assert len(seen) == 1",
    )
    outcomes = [cell.outcome for cell in ran(Kernel(Limits(), in_the_future(), fork_server), *texts)]
    assert outcomes == [*["ok"] * 4, "error", *["ok"] * 3]


LIMITS = Limits(cell_s=4)


@linux
@pytest.mark.parametrize(
    "text", ["while True:\n    pass", "import time\ntime.sleep(99)", "import asyncio\nawait asyncio.sleep(99)"]
)
def test_a_late_cell_is_interrupted_and_the_next_one_runs(fork_server, text):
    kernel = Kernel(LIMITS, in_the_future(), fork_server)
    cells = ran(kernel, text, "1 + 1")
    assert [(cell.outcome, cell.fatal) for cell in cells] == [
        ("time limit", False),
        ("ok", False),
    ] and not kernel.reason


STUBBORN = "while True:\n    try:\n        while True:\n            pass\n    except KeyboardInterrupt:\n        pass"
STOPPED = "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"


@linux
@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (STUBBORN, "time limit"),
        (STOPPED, "time limit"),
        ("import os\nos._exit(3)", "died"),
        ("x = bytearray(10**11)", "memory"),
    ],
)
def test_what_cannot_go_on_is_fatal_and_noticed_at_once(fork_server, text, outcome):
    started = time.monotonic()
    (cell,) = ran(Kernel(LIMITS, in_the_future(), fork_server), text)
    assert cell.fatal and cell.outcome == outcome and time.monotonic() - started < LIMITS.cell_s + 30


FLOODS = {  # written into every pipe that the kernel has open
    "one endless line": "part * 40",
    "many replies to another cell": "b'{\"cell\": 7}\\n' * 3_000_000",
    "deep JSON": "b'[' * 3_000_000 + b']' * 3_000_000 + b'\\n'",
    "wide JSON": "b'{\"cell\": 1, \"payload\": [' + b'[],' * 1_000_000 + b'[]]}\\n'",
    "no text": "bytes(30_000_000) + b'\\n'",
}
WRITE = """import json, os, time
part = b'x' * 30_000_000
data = {}
for number in range(3, 256):
    try:
        if os.readlink(f'/proc/self/fd/{{number}}').startswith('pipe'):
            while data:
                data = data[os.write(number, data):]
    except OSError:
        pass
time.sleep(99)"""


@linux
@pytest.mark.parametrize("flood", FLOODS)
def test_whatever_a_kernel_sends_the_grader_stays_small(fork_server, flood):
    kernel = Kernel(LIMITS, in_the_future(), fork_server)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is measured from here
    before = peak()
    (cell,) = ran(kernel, WRITE.format(FLOODS[flood]))
    assert cell.fatal or cell.outcome == "time limit"
    assert peak() - before < 60 * 2**20, f"{(peak() - before) >> 20} MiB; {cell.outcome}; {kernel.reason}"


def peak():
    """The largest memory that this process has had, in bytes."""
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])


@pytest.mark.parametrize(
    "line", [b"", b"[]", b"{", b"[" * 100_000, b'{"a": "\xc3\xa4"}', b"[" + b"1," * MAX_JSON_VALUES + b"1]"]
)
def test_what_is_no_reply_is_read_as_nothing(line):
    assert plain(line) == {}


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
        (SIX_PROCESSES.replace("hold()\ntime", THREAD_INSTEAD), Limits(memory_mb=1000)),
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
