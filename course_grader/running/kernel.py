"""One kernel that nobody trusts: a cell at a time, each in its time; watched, closed for certain, and why it ended."""

import contextlib
import json
import os
import queue
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from ..limits import MAX_JSON_VALUES, MIB, Limits
from .launch import ForkServer, PlainKernel, SandboxedKernel
from .library_copy import library_copy

START_S = 60.0
INTERRUPT_S = 2.0  # how long an interrupted cell may take to stop
CLOSED_S = 1.0  # how long a kernel that closed its pipe may take to be seen ended
LOOK_S = 0.02
WATCH_S = 0.1
AGAIN_S = 0.02  # between two looks at a sandbox that seems to hold too much: a process may be about to start another
WAITING = 16  # replies that lie unread before no more are taken


@dataclass(frozen=True)
class CellResult:
    """One cell: ``ok``, ``error`` (its name and message), ``time limit``, or (``fatal``) what ended the kernel."""

    outcome: str
    name: str = ""
    message: str = ""
    payload: object = None
    fatal: bool = False


class Kernel:
    """A running kernel under watch; a plain one without a sandbox where there is no fork server.

    It must have ended at ``deadline``, on ``time.monotonic``'s clock. ``library`` is as for ``Sandbox``.
    """

    def __init__(
        self, limits: Limits, deadline: float, fork_server: ForkServer | None, library: Path | None = None
    ) -> None:
        self.limits, self.deadline, self.reason = limits, deadline, ""
        library = library or library_copy(frozenset())
        self.process = SandboxedKernel(limits, library, fork_server) if fork_server else PlainKernel(library)
        self.sandbox = self.process.sandbox if fork_server else None
        self._cells: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._replies: queue.Queue[bytes | None] = queue.Queue(WAITING)
        self._number = 0
        self._closed = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start it, and watch over it."""
        cells, replies = self.process.start()
        for work in ((self._send_all, cells), (self._listen, replies), (self._watch,)):
            thread = threading.Thread(target=work[0], args=work[1:], daemon=True)
            self._threads.append(thread)
            thread.start()
        if self._reply(START_S) is None:
            raise RuntimeError(f"the kernel did not start{f': {self.reason}' if self.reason else ''}")

    def run_cell(self, text: str) -> CellResult:
        """Run one cell; interrupt it when its time is over, and end the kernel if that does not help."""
        self._number += 1
        self._cells.put(json.dumps([self._number, text]).encode() + b"\n")
        reply = self._reply(self.limits.cell_s)
        late = reply is None and not self._has_ended()
        if late:
            self._cells.put(b"null\n")
            reply = self._reply(INTERRUPT_S)
        if reply is None and self.reason:
            return CellResult(self.reason, fatal=True)
        if reply is None:
            return CellResult("died" if self._has_ended() else "time limit", fatal=True)
        payload = reply.get("payload")
        if late:
            return CellResult("time limit", "TimeoutError", f"stopped after {self.limits.cell_s:g} s", payload)
        if not reply.get("name"):
            return CellResult("ok", payload=payload)
        if reply["name"] == "MemoryError":  # the error itself keeps the memory: what follows would fail too
            return CellResult("memory", fatal=True)
        return CellResult("error", _short(reply["name"], 60), _short(reply.get("message"), 400), payload)

    def end(self, reason: str) -> None:
        """End every process of the submission at once. The first reason given is kept."""
        self.reason = self.reason or reason
        self.process.kill()

    def close(self) -> None:
        """End it and let go of every file and process."""
        self._closed.set()
        self.process.close()
        self._cells.put(None)
        for thread in self._threads:
            thread.join(CLOSED_S)

    def _reply(self, seconds: float) -> dict | None:
        """The reply to the latest cell; None where it does not come in time, or the kernel has ended."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                line = self._replies.get(timeout=min(LOOK_S, left))
            except queue.Empty:
                if self.process.ended() and self._replies.empty():
                    return None
                continue
            if line is None:
                self._replies.put(None)
                return None
            if not (reply := plain(line)):
                self.end("its reply could not be read")
                return None
            if reply.get("cell") == self._number:
                return reply
        return None

    def _has_ended(self) -> bool:
        """Whether the kernel has ended, or is about to: it has closed its pipe."""
        end = time.monotonic() + (0.0 if self._replies.empty() else CLOSED_S)
        while not self.process.ended() and time.monotonic() < end:
            time.sleep(LOOK_S)
        return self.process.ended()

    def _send_all(self, descriptor: int) -> None:
        """In a thread of its own, since a kernel may take nothing for as long as it likes."""
        with os.fdopen(descriptor, "wb", buffering=0) as pipe, contextlib.suppress(OSError):
            while (line := self._cells.get()) is not None:
                pipe.write(line)

    def _listen(self, descriptor: int) -> None:
        """Take replies as they come; whoever sends too much at a time is ended."""
        most = self.limits.message_mb * MIB
        with os.fdopen(descriptor, "rb") as pipe:
            while not self._closed.is_set() and (line := pipe.readline(most)):
                if not line.endswith(b"\n"):
                    self.end("output limit")
                    break
                while not self._closed.is_set():
                    with contextlib.suppress(queue.Full):
                        self._replies.put(line, timeout=WATCH_S)
                        break
        with contextlib.suppress(queue.Full):
            self._replies.put(None, timeout=WATCH_S)

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


def plain(line: bytes) -> dict:
    """A reply, if it is a JSON object of not too many parts; empty where it is anything else."""
    if not line.isascii() or sum(map(line.count, (b"[", b"{", b","))) > MAX_JSON_VALUES:
        return {}
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _short(text: object, most: int) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in str(text)[:most])
