"""The process that forks kernels: it forks them into sandboxes, and says how they ended."""

import json
import os
import select
import signal
import socket
from dataclasses import asdict

import pytest
from sandboxed import linux

from course_grader.limits import Limits
from course_grader.running.fork_server import ForkServer, exit_status
from course_grader.running.sandbox import Sandbox

CONNECTION = {
    name: place for place, name in enumerate(("shell_port", "iopub_port", "stdin_port", "hb_port", "control_port"), 1)
}
CONNECTION |= {"transport": "ipc", "ip": "/run/kernel/k", "key": "k", "signature_scheme": "hmac-sha256"}


@pytest.fixture(scope="module")
def fork_server():
    found = ForkServer()
    yield found
    found.close()


@linux
def test_a_kernel_is_born_in_the_sandbox_and_its_end_is_told(fork_server):
    limits = Limits()
    sandbox = Sandbox(limits)
    try:
        before = set(sandbox.processes())
        report = fork_server.spawn(sandbox, CONNECTION, asdict(limits))
        (kernel,) = set(sandbox.processes()) - before
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
def test_a_sandbox_that_is_gone(fork_server):
    sandbox = Sandbox(Limits())
    sandbox.close()
    with pytest.raises(RuntimeError, match="no kernel could be started"):
        fork_server.spawn(sandbox, CONNECTION, asdict(Limits()))


@linux
def test_it_is_started_again_when_it_died(fork_server):
    fork_server.start()
    fork_server.process.kill()
    fork_server.process.wait()
    sandbox = Sandbox(Limits())
    try:
        os.close(fork_server.spawn(sandbox, CONNECTION, asdict(Limits())))
    finally:
        sandbox.close()


@linux
def test_it_ends_with_its_socket():
    fork_server = ForkServer()
    fork_server.start()
    fork_server.socket.close()
    assert fork_server.process.wait(30) is not None


@linux
def test_it_ends_without_a_word_when_its_answer_is_not_read(capfd):
    fork_server, (report, end) = ForkServer(), os.pipe()
    fork_server.start()
    request = {"pid": 2**22 + 1, "own_user": True, "user": None, "connection": CONNECTION, "limits": asdict(Limits())}
    socket.send_fds(fork_server.socket, [json.dumps(request).encode()], [end])
    assert select.select([fork_server.socket], [], [], 30)[0]  # there is no such sandbox: it says so
    fork_server.socket.close()
    assert fork_server.process.wait(30) == 0 and capfd.readouterr().err == ""
    os.close(report)
    os.close(end)
