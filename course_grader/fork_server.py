"""A process that has loaded PyTorch and the course, and forks: each child walks into a sandbox and becomes a kernel there.

It is started as a program of its own (``python -m course_grader.fork_server FD``), runs no student code, holds no secret,
and ends when its socket is closed. Each fork saves the seconds that loading PyTorch takes.
"""

import contextlib
import gc
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

from .sandbox import IMPORTED_FROM, Sandbox

MAX_REQUEST = 65_536
ANSWER_S = 120.0  # loading PyTorch on a busy machine included


class ForkServer:
    """The grader's end: starts the process on first use and asks it for kernels."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None
        self.socket: socket.socket | None = None

    def spawn(self, sandbox: Sandbox, connection: dict, limits: dict) -> int:
        """Start a kernel in ``sandbox``.

        Args:
            sandbox: An open sandbox.
            connection: The kernel's connection file, as a dict; paths as seen in the sandbox.
            limits: ``Limits`` as a dict.

        Returns:
            A file descriptor that becomes readable when the kernel has ended: four bytes of wait status, or end of file.

        Raises:
            RuntimeError: The kernel could not be started in the sandbox.
        """
        if self.process is None or self.process.poll() is not None:
            self.start()
        report, end = os.pipe()
        request = {"pid": sandbox.pid, "own_user": sandbox.own_user, "user": sandbox.user}
        request |= {"connection": connection, "limits": limits}
        try:
            socket.send_fds(self.socket, [json.dumps(request).encode()], [end])
            answer = json.loads(self.socket.recv(MAX_REQUEST) or b'{"problem": "it ended"}')
        except OSError as problem:
            answer = {"problem": str(problem)}
        finally:
            os.close(end)
        if "problem" in answer:
            os.close(report)
            self.close()
            raise RuntimeError(f"no kernel could be started in the sandbox: {answer['problem']}")
        return report

    def start(self) -> None:
        """Start the process; it loads PyTorch while the caller does something else."""
        self.close()
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(ANSWER_S)
        environment = {"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # kernels can read it
        environment["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # ipykernel 6 loads a debugger that would warn
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", f"{__package__}.fork_server", str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment | {"PYTHONPATH": IMPORTED_FROM, "LANG": "C.UTF-8"},
                cwd="/",
            )

    def close(self) -> None:
        """End the process."""
        if self.socket is not None:
            self.socket.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = self.socket = None


def main(descriptor: int) -> None:
    """Load everything, then fork a kernel for each request until the socket is closed."""
    import ipykernel.kernelapp  # noqa: F401
    import torch

    from course_utils.checks.judges.find import all_entries

    from . import confine, kernel_side

    all_entries()
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()  # what is loaded now is shared by all kernels; a collection would copy it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children are reaped by the system
    channel = socket.socket(fileno=descriptor)
    while True:
        try:
            message, (end, *_), _, _ = _receive(channel)
        except ConnectionResetError:  # the grader ended before it had read our last answer
            return
        if not message:
            return
        request = json.loads(message)
        ready, say = os.pipe()
        if os.fork() == 0:
            _guardian(request, channel, end, say, confine, kernel_side)
        os.close(end)
        os.close(say)
        with os.fdopen(ready) as file:
            problem = file.read()
        try:
            channel.send(json.dumps({"problem": problem} if problem else {}).encode())
        except BrokenPipeError:  # the grader is gone
            return


def _receive(channel: socket.socket):
    message, descriptors, flags, address = socket.recv_fds(channel, MAX_REQUEST, 1)
    return message, descriptors or [-1], flags, address


def _guardian(request: dict, channel: socket.socket, end: int, say: int, confine, kernel_side) -> None:
    """Enter the sandbox, fork the kernel, and report how it ended. Never returns."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        channel.close()
        confine.enter(request["pid"], request["own_user"])
        kernel = os.fork()
    except BaseException as problem:
        os.write(say, str(problem).encode())
        os._exit(1)
    if kernel == 0:
        try:
            _become_kernel(request, end, say, confine, kernel_side)
        finally:
            os._exit(1)
    os.close(say)
    _, status = os.waitpid(kernel, 0)
    with contextlib.suppress(OSError):  # nobody may be listening any more
        os.write(end, struct.pack("=i", status))
    os._exit(0)


def _become_kernel(request: dict, end: int, say: int, confine, kernel_side) -> None:
    try:
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        os.close(end)
        confine.give_up_rights(request["user"], request["limits"])
    except BaseException as problem:
        os.write(say, str(problem).encode())
        raise
    os.closerange(3, 1024)  # `say` too: its end of file means that all went well
    kernel_side.serve(request["connection"])


def exit_status(report: int) -> int | None:
    """The wait status from a readable report; None if nobody could tell it."""
    data = os.read(report, 4)
    return struct.unpack("=i", data)[0] if len(data) == 4 else None


if __name__ == "__main__":
    sys.path[:] = [path for path in sys.path if path not in ("", str(Path.cwd()))]
    main(int(sys.argv[1]))
