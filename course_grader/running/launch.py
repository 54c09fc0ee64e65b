"""Starting a kernel: in a sandbox of its own, or (without a sandbox) as a plain process."""

import asyncio
import contextlib
import os
import secrets
import select
import signal
import stat
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from ..in_sandbox.kernel_side import ENVIRONMENT, SOCKETS
from ..limits import Limits
from .fork_server import ForkServer, exit_status
from .sandbox import EXIT_S, GRADER, Sandbox
from .zmtp import Address

PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "hb_port": 4, "control_port": 5}
SCHEME = "hmac-sha256"
START_S = 60.0


@dataclass(frozen=True)
class Endpoints:
    """Where a started kernel listens.

    Args:
        shell: For what it shall do.
        iopub: For what it tells.
        control: For interrupts.
        key: That it signs messages with.
    """

    shell: Address
    iopub: Address
    control: Address
    key: bytes


class SandboxedKernel:
    """A kernel in a sandbox.

    Args:
        limits: The submission's limits.
        library: Folder that the course's library is imported from.
        fork_server: Where the kernel comes from.
    """

    def __init__(self, limits: Limits, library: Path, fork_server: ForkServer) -> None:
        self.sandbox, self.limits, self.fork_server = Sandbox(limits, library), limits, fork_server
        self.status: int | None = None
        self._report: int | None = None

    async def start(self) -> Endpoints:
        """Ask the fork server for a kernel and wait for its sockets; no student code runs before a client connects.

        Raises:
            RuntimeError: It does not start.
        """
        key = secrets.token_hex(16)
        connection = {**PORTS, "transport": "ipc", "ip": f"{SOCKETS}/k", "key": key, "signature_scheme": SCHEME}
        self._report = await asyncio.to_thread(self.fork_server.spawn, self.sandbox, connection, asdict(self.limits))
        sockets = {name: self.sandbox.path(f"{SOCKETS}/k-{port}") for name, port in PORTS.items()}
        deadline = time.monotonic() + START_S
        while not all(map(_is_socket, sockets.values())):
            if self.ended() or time.monotonic() > deadline:
                raise RuntimeError("the kernel did not start")
            await asyncio.sleep(0.01)
        return Endpoints(sockets["shell_port"], sockets["iopub_port"], sockets["control_port"], key.encode())

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

    async def close(self) -> None:
        """End it and let go of everything."""
        self.kill()
        deadline = time.monotonic() + EXIT_S  # its supervisor's end included
        while not self.ended() and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        if self._report is not None:
            os.close(self._report)
            self._report = None


class PlainKernel:
    """A kernel as an ordinary process of this user, for students whom one trusts.

    Args:
        library: Folder that the course's library is imported from.
    """

    status = None

    def __init__(self, library: Path) -> None:
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        self.library, self.manager = library, AsyncKernelManager()
        self.manager._kernel_spec = KernelSpec(argv=[*argv, "--HistoryManager.enabled=False"])
        self._process: psutil.Process | None = None

    async def start(self) -> Endpoints:
        """Start it."""
        path = [str(self.library), str(GRADER.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        threads = {name: ENVIRONMENT[name] for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        await self.manager.start_kernel(env={**os.environ, **threads, "PYTHONPATH": os.pathsep.join(path)})
        self._process = psutil.Process(self.manager.provisioner.pid)
        ports = ((self.manager.ip, getattr(self.manager, f"{name}_port")) for name in ("shell", "iopub", "control"))
        return Endpoints(*ports, self.manager.session.key)

    def ended(self) -> bool:
        """Whether the kernel has ended."""
        if self._process is None:
            return True
        with contextlib.suppress(psutil.Error):
            return not self._process.is_running() or self._process.status() == psutil.STATUS_ZOMBIE
        return True

    def kill(self) -> None:
        """End the kernel and its descendants, as far as they can be found."""
        if self._process is None:
            return
        with contextlib.suppress(psutil.Error):
            family = [*self._process.children(recursive=True), self._process]
            for process in family:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            psutil.wait_procs(family, timeout=3)
        if hasattr(os, "killpg"):
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """End it and let go of everything."""
        self.kill()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self.manager.provisioner.wait(), EXIT_S)
        with contextlib.suppress(Exception):
            await self.manager.provisioner.cleanup()
        with contextlib.suppress(Exception):
            self.manager.context.destroy(linger=0)
        self.manager.cleanup_connection_file()


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False
