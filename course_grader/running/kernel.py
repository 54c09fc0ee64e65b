"""One kernel for one submission: in a sandbox or without; connected, watched, closed for certain, and why it ended."""

import asyncio
import contextlib
import threading
import time
from pathlib import Path

from jupyter_client.session import Session as Signer

from ..limits import MIB, Limits
from .fork_server import ForkServer
from .launch import SCHEME, START_S, PlainKernel, SandboxedKernel
from .library_copy import library_copy
from .zmtp import Channel, ReceiveBudget

WATCH_S = 0.1
AGAIN_S = 0.02  # between two looks at a sandbox that seems to hold too much: a process may be about to start another
SILENT_S = 0.2


class Kernel:
    """A running kernel under watch.

    Args:
        limits: The submission's limits.
        deadline: When it must have ended, on ``time.monotonic``'s clock.
        fork_server: Where sandboxed kernels come from; None: a plain kernel without a sandbox.
        library: Folder that the course's library is imported from; None: a copy with all but what decides.
    """

    def __init__(
        self, limits: Limits, deadline: float, fork_server: ForkServer | None, library: Path | None = None
    ) -> None:
        self.limits, self.deadline, self.reason = limits, deadline, ""
        self.budget = ReceiveBudget((limits.output_mb + limits.message_mb) * MIB)
        library = library or library_copy(frozenset())
        self.process = SandboxedKernel(limits, library, fork_server) if fork_server else PlainKernel(library)
        self.sandbox = self.process.sandbox if fork_server else None
        self._signer: Signer | None = None
        self._channels: dict[str, Channel] = {}
        self._closed = threading.Event()

    async def start(self) -> None:
        """Start it, connect to it, watch over it.

        Raises:
            RuntimeError: It does not start, or does not answer.
        """
        endpoints = await self.process.start()
        threading.Thread(target=self._watch, daemon=True).start()
        self._signer = Signer(key=endpoints.key, signature_scheme=SCHEME)
        try:
            async with asyncio.timeout(START_S):
                for name, kind in (("shell", "DEALER"), ("iopub", "SUB"), ("control", "DEALER")):
                    self._channels[name] = await self._open(getattr(endpoints, name), kind)
                await self._first_words()
        except (TimeoutError, OSError) as problem:
            raise RuntimeError(f"the kernel does not answer: {problem}") from problem

    async def _open(self, address, kind: str) -> Channel:
        while True:
            try:
                return await Channel.open(address, kind, self.budget)
            except ConnectionError:  # a plain kernel may not listen yet
                if self.process.ended():
                    raise
                await asyncio.sleep(0.05)

    async def _first_words(self) -> None:
        """Wait until the kernel's output arrives: from here on none is missed."""
        while True:
            await self.send("shell", "kernel_info_request", {})
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SILENT_S):
                    await self.receive("iopub")
                    return
            if self.process.ended():
                raise ConnectionError("it has ended")

    async def send(self, channel: str, kind: str, content: dict) -> str:
        """Send a message; returns its id."""
        message = self._signer.msg(kind, content)
        await self._channels[channel].send(self._signer.serialize(message))
        return message["header"]["msg_id"]

    async def receive(self, channel: str) -> list[bytes]:
        """The next message's parts, as ``zmtp.Channel.receive`` gives them."""
        return await self._channels[channel].receive()

    async def interrupt(self) -> None:
        """Interrupt the cell that runs."""
        if self.sandbox:
            await self.send("control", "interrupt_request", {})
        else:
            await self.process.manager.interrupt_kernel()

    def end(self, reason: str) -> None:
        """End every process of the submission at once. The first reason given is kept."""
        self.reason = self.reason or reason
        self.process.kill()

    def wait_status(self) -> int | None:
        """How the kernel ended, as ``os.waitpid`` says it, where that is known."""
        return self.process.status

    async def close(self) -> None:
        """End it and let go of every file and socket."""
        self._closed.set()
        for channel in self._channels.values():
            channel.close()
        await self.process.close()

    def _watch(self) -> None:
        """In a thread of its own, so that nothing a kernel sends can hold it up."""
        while not self._closed.wait(WATCH_S):
            if self.sandbox and self._holds_too_much():
                self.end("memory")
            elif time.monotonic() > self.deadline:
                self.end("notebook time limit")

    def _holds_too_much(self) -> bool:
        if self.sandbox.memory() <= self.limits.memory_mb * MIB:
            return False
        time.sleep(AGAIN_S)
        return self.sandbox.memory() > self.limits.memory_mb * MIB
