"""Starting a kernel, with pipes for cells and replies: in a sandbox of its own, or (without one) as a plain process."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

from ..in_sandbox import kernel_side
from ..limits import Limits
from .fork_server import ForkServer, exit_status
from .sandbox import EXIT_S, GRADER, Sandbox


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
            self.status = exit_status(self._report)
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
