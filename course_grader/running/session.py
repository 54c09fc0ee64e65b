"""Talking to a kernel that nobody trusts: one cell at a time, each in its time, and of all it says only what is asked for."""

import asyncio
import contextlib
import json
from dataclasses import dataclass

from ..inside.kernel_side import MIME
from ..limits import Limits
from .kernel import Kernel

INTERRUPT_S = 2.0  # how long an interrupted cell may take to stop
IDLE_S = 2.0  # how long the kernel may take to say that it is idle, after its reply
LOOK_S = 0.02
MIB = 2**20


@dataclass(frozen=True)
class Ran:
    """One cell: ``ok``, ``error`` (its name and message), ``time limit``, or (``fatal``) what ended the kernel."""

    outcome: str
    name: str = ""
    message: str = ""
    payload: object = None
    fatal: bool = False


class Session:
    """A conversation with one kernel.

    Args:
        kernel: Started.
        limits: The submission's limits.
    """

    def __init__(self, kernel: Kernel, limits: Limits) -> None:
        self.kernel, self.client, self.limits = kernel, kernel.client, limits
        self.payload: object = None
        self.idle = False

    async def run_cell(self, text: str) -> Ran:
        """Run one cell; interrupt it when its time is over, and end the kernel if that does not help."""
        self.payload, self.idle = None, False
        message = self.client.execute(text, allow_stdin=False, stop_on_error=False)
        finished = asyncio.ensure_future(self._finished(message))
        ended = asyncio.ensure_future(self._ended())
        try:
            late = not await _first(finished, ended, self.limits.cell_s)
            if late:
                await self.kernel.manager.interrupt_kernel()
                if not await _first(finished, ended, INTERRUPT_S):
                    return Ran("time limit", fatal=True)
            if not finished.done():
                return Ran("died", fatal=True)
            reply = finished.result()
        except Exception as problem:  # whatever a kernel may send instead of Jupyter's messages
            return Ran("not Jupyter's protocol", type(problem).__name__, fatal=True)
        finally:
            finished.cancel()
            ended.cancel()
        return self._judged(reply, late)

    def _judged(self, reply: dict, late: bool) -> Ran:
        if not self.idle:
            return Ran("output limit", fatal=True)  # what it sent was too large to be taken
        if late:
            return Ran("time limit", "TimeoutError", f"stopped after {self.limits.cell_s:g} s", self.payload)
        if reply.get("status") == "ok":
            return Ran("ok", payload=self.payload)
        if reply.get("ename") == "MemoryError":  # the error itself keeps the memory: what follows would fail too
            return Ran("memory", fatal=True)
        return Ran("error", _short(reply.get("ename"), 60), _short(reply.get("evalue"), 400), self.payload)

    async def _finished(self, message: str) -> dict:
        """The reply's content, after all that the cell had to say."""
        listening = asyncio.ensure_future(self._listen(message))
        try:
            while True:
                reply = await self.client.shell_channel.get_msg(timeout=None)
                if reply["parent_header"].get("msg_id") == message:
                    break
            await asyncio.wait({listening}, timeout=IDLE_S)
            if listening.done():
                listening.result()
            content = reply["content"]
            return content if isinstance(content, dict) else {}
        finally:
            listening.cancel()

    async def _listen(self, message: str) -> None:
        """Of all that a kernel may send, take an observation and the end of the cell; count the rest."""
        received = 0
        while not self.idle:
            found = await self.client.iopub_channel.get_msg(timeout=None)
            if found["parent_header"].get("msg_id") != message:
                continue
            kind, content = found["msg_type"], found["content"]
            data = content.get("data")
            if kind == "status" and content.get("execution_state") == "idle":
                self.idle = True
            elif kind == "display_data" and isinstance(data, dict) and MIME in data:
                self.payload = data[MIME] if self.payload is None else self.payload
            else:
                received += len(json.dumps(content, default=str))
                if received > self.limits.output_mb * MIB:
                    self.kernel.end("output limit")

    async def _ended(self) -> None:
        while await self.kernel.manager.provisioner.poll() is None:
            await asyncio.sleep(LOOK_S)


async def _first(finished: asyncio.Future, ended: asyncio.Future, seconds: float) -> bool:
    """Whether either is done in time."""
    done, _ = await asyncio.wait({finished, ended}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    if ended in done and finished not in done:
        with contextlib.suppress(asyncio.TimeoutError):  # its last words may be on the way
            await asyncio.wait_for(asyncio.shield(finished), LOOK_S)
    return bool(done)


def _short(text: object, most: int) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in str(text)[:most])
