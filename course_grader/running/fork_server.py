"""Where sandboxed kernels come from: the grader's end of the process that forks them (``in_sandbox.forking``)."""

import json
import os
import socket
import struct
import subprocess
import sys

import platformdirs

from ..in_sandbox import forking
from .sandbox import GRADER, Sandbox

ANSWER_S = 120.0  # loading PyTorch on a busy machine included


class ForkServer:
    """The grader's end: starts the process on first use and asks it for kernels."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None
        self.socket: socket.socket | None = None

    def spawn(self, sandbox: Sandbox, requests: int, replies: int, limits: dict) -> int:
        """Start a kernel in ``sandbox`` that reads cells from one file descriptor and writes its replies to the other.

        Returns:
            A file descriptor that becomes readable when the kernel has ended: four bytes of wait status, or end of file.

        Raises:
            RuntimeError: The kernel could not be started in the sandbox.
        """
        if self.process is None or self.process.poll() is not None:
            self.start()
        report, end = os.pipe()
        request = {
            "pid": sandbox.pid,
            "own_user": sandbox.own_user,
            "user": sandbox.user,
            "library": str(sandbox.library),
            "limits": limits,
        }
        try:
            socket.send_fds(self.socket, [json.dumps(request).encode()], [end, requests, replies])
            answer = json.loads(self.socket.recv(forking.MAX_REQUEST) or b'{"problem": "it ended"}')
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
        environment["MPLCONFIGDIR"] = str(platformdirs.user_cache_path("attention-course") / "matplotlib")
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", forking.__name__, str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment | {"PYTHONPATH": str(GRADER.parent), "LANG": "C.UTF-8"},
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


def exit_status(report: int) -> int | None:
    """The wait status from a readable report; None if nobody could tell it."""
    data = os.read(report, 4)
    return struct.unpack("=i", data)[0] if len(data) == 4 else None
