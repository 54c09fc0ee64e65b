"""One kernel for one submission: in a sandbox, or (without a sandbox) a plain one; closed for certain, and why it ended."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path

import psutil
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from ..inside.kernel_side import ENVIRONMENT
from ..limits import Limits
from .fork_server import ForkServer
from .provisioner import SandboxManager, bounded_context, connect, disconnect
from .room import room as make_room
from .sandbox import GONE_S, GRADER, Sandbox

WATCH_S = 0.1
MIB = 2**20


class Kernel:
    """A running kernel under watch.

    Args:
        limits: The submission's limits.
        deadline: When it must have ended, on ``time.monotonic``'s clock.
        fork_server: Where sandboxed kernels come from; None: a plain kernel without a sandbox.
        room: The library as it may be seen (``room.room``); None: with all but the judges.
    """

    def __init__(
        self, limits: Limits, deadline: float, fork_server: ForkServer | None, room: Path | None = None
    ) -> None:
        self.limits, self.deadline, self.reason = limits, deadline, ""
        self.client = None
        self.room = room or make_room(frozenset())
        self.sandbox = Sandbox(limits, self.room) if fork_server else None
        if self.sandbox:
            self.manager = SandboxManager(self.sandbox, fork_server, asdict(limits))
        else:
            argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            self.manager = AsyncKernelManager(context=bounded_context(limits.message_mb))
            self.manager._kernel_spec = KernelSpec(argv=[*argv, "--HistoryManager.enabled=False"])
        self._closed = threading.Event()

    async def start(self) -> None:
        """Start it, connect to it, watch over it.

        Raises:
            RuntimeError: It does not start.
        """
        if self.sandbox:
            await self.manager.start_kernel()
        else:
            threads = {name: ENVIRONMENT[name] for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
            path = os.pathsep.join([str(self.room), str(GRADER.parent), os.environ.get("PYTHONPATH", "")]).rstrip(
                os.pathsep
            )
            await self.manager.start_kernel(env={**os.environ, **threads, "PYTHONPATH": path})
        threading.Thread(target=self._watch, daemon=True).start()
        self.client = await connect(self.manager)

    def end(self, reason: str) -> None:
        """End every process of the submission at once. The first reason given is kept."""
        self.reason = self.reason or reason
        if self.sandbox:
            self.sandbox.close()
        else:
            _kill_tree(self.manager.provisioner.pid if self.manager.provisioner else None)

    def wait_status(self) -> int | None:
        """How the kernel ended, as ``os.waitpid`` says it, where that is known."""
        return getattr(self.manager.provisioner, "status", None)

    async def close(self) -> None:
        """End it and let go of every file and socket."""
        self._closed.set()
        self.end("")
        if self.manager.provisioner:
            with contextlib.suppress(Exception):  # its guardian's end included
                await asyncio.wait_for(self.manager.provisioner.wait(), GONE_S)
            with contextlib.suppress(Exception):
                await self.manager.provisioner.cleanup()
        disconnect(self.manager, self.client)
        self.manager.cleanup_connection_file()

    def _watch(self) -> None:
        """In a thread of its own, so that nothing a kernel sends can hold it up."""
        while not self._closed.wait(WATCH_S):
            used = sum(self.sandbox.processes().values()) if self.sandbox else 0
            if used > self.limits.memory_mb * MIB:
                self.end("memory")
            elif time.monotonic() > self.deadline:
                self.end("notebook time limit")


def _kill_tree(pid: int | None) -> None:
    """Without a sandbox: the kernel and its descendants, as far as they can be found."""
    if pid is None:
        return
    with contextlib.suppress(psutil.Error):
        parent = psutil.Process(pid)
        family = [*parent.children(recursive=True), parent]
        for process in family:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(family, timeout=3)
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
