"""Talking to a kernel that nobody trusts: one cell at a time, each in its time, and of all it says only what is asked for."""

import asyncio
import contextlib
import json
from dataclasses import dataclass

from ..in_sandbox.kernel_side import MIME
from ..limits import MAX_JSON_VALUES, MIB, Limits
from .kernel import Kernel
from .zmtp import SizeLimitExceeded

INTERRUPT_S = 2.0  # how long an interrupted cell may take to stop
IDLE_S = 2.0  # how long the kernel may take to say that it is idle, after its reply
CLOSED_S = 1.0  # how long a kernel that closed a connection may take to be seen ended
LOOK_S = 0.02
DELIMITER = b"<IDS|MSG>"
REQUEST = {
    "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": False
}  # fmt: skip


@dataclass(frozen=True)
class CellResult:
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
        self.kernel, self.limits = kernel, limits
        self.payload: object = None
        self.idle = False

    async def run_cell(self, text: str) -> CellResult:
        """Run one cell; interrupt it when its time is over, and end the kernel if that does not help."""
        self.payload, self.idle = None, False
        self.kernel.budget.reset()
        finished = asyncio.ensure_future(self._finished(text))
        ended = asyncio.ensure_future(self._ended())
        try:
            late = not await _first(finished, ended, self.limits.cell_s)
            if late:
                await self.kernel.interrupt()
                if not await _first(finished, ended, INTERRUPT_S):
                    return CellResult("time limit", fatal=True)
            if not finished.done():
                return CellResult("died", fatal=True)
            return self._result(finished.result(), late)
        except SizeLimitExceeded:
            self.kernel.end("output limit")
            return CellResult("output limit", fatal=True)
        except Exception as problem:  # whatever a kernel may send instead of Jupyter's messages
            if isinstance(problem, ConnectionError) and await _first(ended, ended, CLOSED_S):
                return CellResult("died", fatal=True)
            return CellResult("not Jupyter's protocol", type(problem).__name__, fatal=True)
        finally:
            finished.cancel()
            ended.cancel()

    def _result(self, reply: dict, late: bool) -> CellResult:
        if not self.idle:
            return CellResult("output limit", fatal=True)  # what it sent was too large to be taken
        if late:
            return CellResult("time limit", "TimeoutError", f"stopped after {self.limits.cell_s:g} s", self.payload)
        if reply.get("status") == "ok":
            return CellResult("ok", payload=self.payload)
        if reply.get("ename") == "MemoryError":  # the error itself keeps the memory: what follows would fail too
            return CellResult("memory", fatal=True)
        return CellResult("error", _short(reply.get("ename"), 60), _short(reply.get("evalue"), 400), self.payload)

    async def _finished(self, text: str) -> dict:
        """The reply's content, after all that the cell had to say."""
        message = await self.kernel.send("shell", "execute_request", REQUEST | {"code": text})
        listening = asyncio.ensure_future(self._listen(message))
        replying = asyncio.ensure_future(self._reply(message))
        try:
            await asyncio.wait({listening, replying}, return_when=asyncio.FIRST_COMPLETED)
            if listening.done():
                listening.result()  # it may have failed
            reply = await replying
            await asyncio.wait({listening}, timeout=IDLE_S)
            if listening.done():
                listening.result()
            return reply
        finally:
            listening.cancel()
            replying.cancel()

    async def _reply(self, message: str) -> dict:
        while True:
            _, parent, content = parts(await self.kernel.receive("shell"))
            if parent.get("msg_id") == message:
                return plain(content)

    async def _listen(self, message: str) -> None:
        """Of all that a kernel may send, take an observation and the end of the cell; count the rest."""
        received = 0
        while not self.idle:
            kind, parent, content = parts(await self.kernel.receive("iopub"))
            if parent.get("msg_id") != message:
                continue
            if kind == "status":
                self.idle = plain(content).get("execution_state") == "idle"
            elif kind == "display_data" and MIME.encode() in content and content.isascii():
                if len(content) > self.limits.message_mb * MIB:
                    raise SizeLimitExceeded("an observation")
                data = plain(content).get("data")
                if self.payload is None and isinstance(data, dict):
                    self.payload = data.get(MIME)
            else:
                received += len(content)
                if received > self.limits.output_mb * MIB:
                    raise SizeLimitExceeded("output")

    async def _ended(self) -> None:
        while not self.kernel.process.ended():
            await asyncio.sleep(LOOK_S)


def parts(message: list[bytes]) -> tuple[object, dict, bytes]:
    """A message's kind, the header of what it answers, and its content, not yet read.

    The signature is not looked at: whoever runs in the kernel knows the key, and nobody else reaches the socket.

    Raises:
        ValueError: It is no message of Jupyter's.
    """
    _, header, parent, _, content = message[message.index(DELIMITER) + 1 :][:5]
    return plain(header).get("msg_type"), plain(parent), content


def plain(data: bytes) -> dict:
    """A JSON object, if it has not too many parts.

    Raises:
        ValueError: It is something else.
    """
    if sum(map(data.count, (b"[", b"{", b","))) > MAX_JSON_VALUES:
        raise ValueError(f"JSON of more than {MAX_JSON_VALUES} parts")
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return value


async def _first(finished: asyncio.Future, ended: asyncio.Future, seconds: float) -> bool:
    """Whether either is done in time."""
    done, _ = await asyncio.wait({finished, ended}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    if ended in done and finished not in done:
        with contextlib.suppress(asyncio.TimeoutError):  # its last words may be on the way
            await asyncio.wait_for(asyncio.shield(finished), LOOK_S)
    return bool(done)


def _short(text: object, most: int) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in str(text)[:most])
