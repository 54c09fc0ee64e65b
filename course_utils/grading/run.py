"""Running a rebuilt notebook: each cell in its turn, each exercise probed at its place, a new kernel where one is lost."""

import asyncio
import base64
import json
import os
import secrets
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete, DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

from course_utils.checks.codec import encode, pack

from .inside import MIME
from .kernels import Kernel
from .limits import Limits
from .rebuild import Step

INTERRUPT_S = 2.0  # how long an interrupted cell may take to stop
MIB = 2**20


@dataclass
class Trace:
    """What running one submission brought.

    Args:
        seen: Exercise number -> what the probe sent, not yet looked at: ``text`` and ``data``, or ``undefined``.
        lost: Exercise number -> why there is nothing to judge.
        broken: Exercise number -> (error, message) of its answer cell.
        events: What ended kernels.
        seconds: How long it took.
    """

    seen: dict[str, dict] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    broken: dict[str, tuple[str, str]] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Ran:
    """One cell: ``ok``, ``error`` (its name and message), or what ended the kernel."""

    outcome: str
    name: str = ""
    message: str = ""
    payload: dict | None = None
    fatal: bool = False


async def run(
    steps: tuple[Step, ...],
    probes: dict[str, tuple[str, list, bool]],
    limits: Limits,
    open_kernel: Callable[[float], Kernel],
) -> Trace:
    """Run the steps.

    Args:
        steps: The rebuilt notebook.
        probes: Exercise number -> its answer as an expression, the cases to call it on, whether off-limits calls raise.
        limits: The submission's limits.
        open_kernel: Deadline -> a kernel, not yet started.
    """
    trace, started = Trace(), time.monotonic()
    deadline = started + limits.notebook_s
    wanted = {step.number for step in steps if step.role == "probe"}
    guilty: set[int] = set()
    for _ in range(limits.restarts + 1):
        culprit = await _attempt(steps, probes, limits, open_kernel(deadline), trace, guilty)
        if culprit is None:
            break
        guilty.add(culprit)
        if time.monotonic() > deadline:
            break
    late = time.monotonic() > deadline
    why = "notebook time limit" if late else "the kernel was lost too often"
    for number in wanted - trace.seen.keys() - trace.lost.keys():
        trace.lost[number] = why
    trace.seconds = time.monotonic() - started
    return trace


async def _attempt(steps, probes, limits, kernel, trace, guilty) -> int | None:
    """Run once from the top, without the guilty cells; the index of the cell that ended it, or None."""
    try:
        await kernel.start()
        client = _Client(new_notebook(cells=[new_code_cell("")]), km=kernel.manager, timeout=None, iopub_timeout=2)
        client.kc, client.kernel = kernel.client, kernel
        own = None  # the student's latest cell: to blame where a given cell meets the end
        for index, step in enumerate(steps):
            number, nonce = step.number, secrets.token_hex(8)
            done = number in trace.seen or number in trace.lost
            if index in guilty or (step.role == "probe" and done):
                continue
            text = step.text
            if step.role == "probe":
                text = probe_text(number, nonce, *probes[number])
            ran = await client.run_cell(text, limits)
            if ran.fatal:
                said = _ended(kernel, ran)
                trace.events.append(f"{_where(step, index)}: {said}")
                if step.role in ("probe", "answer"):
                    trace.lost.setdefault(number, said)
                return own if step.role == "given" and own is not None else index
            if step.role in ("answer", "extra"):
                own = index
            if step.role == "probe":
                _note(trace, number, nonce, ran)
            elif step.role == "answer" and ran.outcome != "ok":
                trace.broken[number] = (ran.name, ran.message)
        return None
    finally:
        await kernel.close()


def probe_text(number: str, nonce: str, expression: str, inputs: list, guarded: bool) -> str:
    """The cell that probes one answer."""
    text, data = pack(encode(inputs))
    words = ", ".join(map(repr, (nonce, text, base64.b64encode(data).decode())))
    module = f'__import__("{__package__}.inside", fromlist=["observe"])'
    return f"{module}.observe({number!r}, lambda: ({expression}), {guarded}, {words})"


class _Client(NotebookClient):
    """nbclient, with limits on what it listens to."""

    kernel: Kernel

    async def run_cell(self, text: str, limits: Limits) -> Ran:
        """Run one cell in the time it has; interrupt it then, and end the kernel if that does not help."""
        self.payload, self.received, self.idle = None, 0, False
        self.most = limits.output_mb * MIB
        cell = new_code_cell(text)
        task = asyncio.ensure_future(self.async_execute_cell(cell, 0))
        try:
            late = not (await asyncio.wait({task}, timeout=limits.cell_s))[0]
            if late:
                await self.km.interrupt_kernel()
                if not (await asyncio.wait({task}, timeout=INTERRUPT_S))[0]:
                    return Ran("time limit", fatal=True)
            task.result()
        except DeadKernelError:
            return Ran("died", fatal=True)
        except Exception as problem:  # whatever a kernel may send instead of Jupyter's messages
            return Ran("not Jupyter's protocol", type(problem).__name__, fatal=True)
        finally:
            task.cancel()
        if not self.idle:
            return Ran("output limit", fatal=True)
        if late:
            return Ran("time limit", "TimeoutError", f"stopped after {limits.cell_s:g} s", self.payload)
        reply = self.reply if isinstance(self.reply, dict) else {}
        if reply.get("ename") == "MemoryError":  # the error itself keeps the memory: what follows would fail too
            return Ran("memory", fatal=True)
        if reply.get("status") == "ok":
            return Ran("ok", payload=self.payload)
        return Ran("error", _short(reply.get("ename"), 60), _short(reply.get("evalue"), 400), self.payload)

    def process_message(self, msg, cell, cell_index) -> None:
        """Of all that a kernel may send, take an observation and the end of the cell; count the rest."""
        content = msg["content"]
        if msg["msg_type"] == "status" and content.get("execution_state") == "idle":
            self.idle = True
            raise CellExecutionComplete
        data = content.get("data")
        if msg["msg_type"] == "display_data" and isinstance(data, dict) and MIME in data:
            self.payload = data[MIME] if self.payload is None else self.payload
            return
        self.received += len(json.dumps(content, default=str))
        if self.received > self.most:
            self.kernel.end("output limit")

    async def _check_raise_for_error(self, cell, cell_index, exec_reply) -> None:
        self.reply = exec_reply["content"]


def _note(trace: Trace, number: str, nonce: str, ran: Ran) -> None:
    payload = ran.payload
    if ran.outcome == "time limit":
        trace.lost[number] = "time limit"
    elif isinstance(payload, dict) and payload.get("nonce") == nonce:
        trace.seen[number] = payload
    else:
        detail = f"{ran.name}: {ran.message}" if ran.name else "no observation arrived"
        trace.lost[number] = f"the check could not run: {detail}"


def _ended(kernel: Kernel, ran: Ran) -> str:
    """Why a kernel ended, in words."""
    if kernel.reason or ran.outcome != "died":
        return kernel.reason or ran.outcome
    status = kernel.wait_status()
    if status is None:
        return "the kernel ended"
    if os.WIFSIGNALED(status):
        return f"the kernel was ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"the kernel ended itself with exit status {os.WEXITSTATUS(status)}"


def _where(step: Step, index: int) -> str:
    return f"{'answer' if step.role == 'answer' else 'check'} {step.number}" if step.number else f"cell {index + 1}"


def _short(text: object, most: int) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in str(text)[:most])
