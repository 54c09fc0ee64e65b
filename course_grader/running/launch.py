"""Starting a kernel, with pipes for cells and replies: in a sandbox of its own, or (without one) as a plain process."""

import contextlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import platformdirs

from ..in_sandbox import forking, kernel_side
from ..limits import Limits
from .sandbox import EXIT_S, GRADER, Sandbox

ANSWER_S = 120.0  # loading PyTorch on a busy machine included


class ForkServer:
    """The grader's end of the process that forks kernels (``in_sandbox.forking``): starts it on first use, and asks it."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None
        self.socket: socket.socket | None = None

    def spawn(self, sandbox: Sandbox, requests: int, replies: int, limits: dict) -> int:
        """Start a kernel in ``sandbox`` that reads cells from one file descriptor and writes its replies to the other.

        Returns a file descriptor that becomes readable when the kernel has ended: four bytes of wait status, or end of file.
        """
        if self.process is None or self.process.poll() is not None:
            self.start()
        report, end = os.pipe()
        request = {name: getattr(sandbox, name) for name in ("pid", "own_user", "user")}
        request |= {"library": str(sandbox.library), "limits": limits}
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
        names = ("PATH", "LANG", "OMP_NUM_THREADS", "MKL_NUM_THREADS")  # kernels can read them
        environment = {name: kernel_side.ENVIRONMENT[name] for name in names} | {"PYTHONPATH": str(GRADER.parent)}
        # Else each thread's first allocation reserves 64 MiB of address space, which is limited.
        environment["MALLOC_ARENA_MAX"] = "1"
        environment["MPLCONFIGDIR"] = str(platformdirs.user_cache_path("attention-course") / "matplotlib")
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", forking.__name__, str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment,
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


class SandboxedKernel:
    """A kernel in a sandbox, from a fork server; it imports the course's library from the folder ``library``."""

    def __init__(self, limits: Limits, library: Path, fork_server: ForkServer) -> None:
        self.sandbox, self.limits, self.fork_server = Sandbox(limits, library), limits, fork_server
        self.status: int | None = None
        self._report: int | None = None

    def start(self) -> tuple[int, int]:
        """Ask the fork server for a kernel; returns where to write cells to, and where to read replies from."""
        (cells, own_end), (own_start, replies) = os.pipe(), os.pipe()
        try:
            self._report = self.fork_server.spawn(self.sandbox, cells, replies, asdict(self.limits))
        except BaseException:
            os.close(own_end)
            os.close(own_start)
            raise
        finally:
            os.close(cells)
            os.close(replies)
        return own_end, own_start

    def ended(self) -> bool:
        """Whether the kernel has ended; ``status`` then says how, as ``os.waitpid`` does, where that is known."""
        if self._report is not None and select.select([self._report], [], [], 0)[0]:
            data = os.read(self._report, 4)  # nothing where nobody could tell it
            self.status = struct.unpack("=i", data)[0] if len(data) == 4 else None
            os.close(self._report)
            self._report = None
        return self._report is None

    def kill(self) -> None:
        """End every process of the submission at once."""
        self.sandbox.close()

    def close(self) -> None:
        """End it and let go of everything."""
        self.kill()
        deadline = time.monotonic() + EXIT_S  # its supervisor's end included
        while not self.ended() and time.monotonic() < deadline:
            time.sleep(0.01)
        if self._report is not None:
            os.close(self._report)
            self._report = None


class PlainKernel:
    """A kernel as an ordinary process of this user, for students whom one trusts."""

    status = None

    def __init__(self, library: Path) -> None:
        self.library, self.process = library, None

    def start(self) -> tuple[int, int]:
        """Start it; returns as ``SandboxedKernel.start`` does."""
        path = [str(self.library), str(GRADER.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        threads = {name: kernel_side.ENVIRONMENT[name] for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"from {kernel_side.__name__} import serve_without_sandbox as serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **threads, "PYTHONPATH": os.pathsep.join(path)},
            start_new_session=True,
        )
        return os.dup(self.process.stdin.fileno()), os.dup(self.process.stdout.fileno())

    def ended(self) -> bool:
        """Whether the kernel has ended."""
        return self.process is None or self.process.poll() is not None

    def kill(self) -> None:
        """End the kernel and its group of processes."""
        if self.process is not None:
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL) if hasattr(os, "killpg") else self.process.kill()

    def close(self) -> None:
        """End it and let go of everything."""
        self.kill()
        if self.process is not None:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait(EXIT_S)
