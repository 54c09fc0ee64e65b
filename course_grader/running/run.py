"""Running a rebuilt notebook: each cell in its turn, each exercise probed at its place, a new kernel where one is lost."""

import base64
import json
import os
import secrets
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from course_checks.running.encode import MAX_NODES_ALONE, encode, pack

from ..in_sandbox import kernel_side
from ..in_sandbox.kernel_side import SECOND_RUN
from ..limits import MIB, Limits
from ..reading.look_at import KNOWN
from ..submissions.rebuild import NotebookStep
from .kernel import CellResult, Kernel

KERNEL_SIDE = f'__import__("{kernel_side.__name__}", fromlist=["x"])'
LIBRARY = "course_utils."  # what the names of the course's own callables begin with
STUDENTS = ("answer", "extra")  # the student's cells
MAX_REMOVED_CALLS = 200
TOO_LONG = "time limit"  # in the place of an error's name


@dataclass
class RunLog:
    """What running one submission brought; dicts are by exercise."""

    observed: dict[str, dict] = field(default_factory=dict)  # what the probe sent: ``text``, ``data`` or ``undefined``
    lost: dict[str, str] = field(default_factory=dict)  # why there is nothing to judge
    cell_errors: dict[str, tuple[str, str]] = field(default_factory=dict)  # error and message of the answer's cell
    events: list[str] = field(default_factory=list)  # what ended kernels
    audited: dict[str, tuple[str, ...]] = field(default_factory=dict)  # what the second run saw, as the kernel says
    removed_calls: set[str] = field(default_factory=set)  # calls of what has no body in the copy, as the kernel says
    seconds: float = 0.0


def run(
    steps: tuple[NotebookStep, ...],
    probes: dict[str, Callable[[str], str]],
    limits: Limits,
    open_kernel: Callable[[float], Kernel],
) -> RunLog:
    """Run the steps. A probe makes of a nonce the cell that probes an answer, ``open_kernel`` of a deadline a new kernel."""
    run_log, started = RunLog(), time.monotonic()
    deadline = started + limits.notebook_s
    wanted = {step.number for step in steps if step.role == "check"}
    skipped: set[int] = set()
    for _ in range(limits.restarts + 1):
        culprit = _attempt(steps, probes, limits, open_kernel(deadline), run_log, skipped)
        if culprit is None:
            break
        skipped.add(culprit)
        if time.monotonic() > deadline:
            break
    late = time.monotonic() > deadline
    why = "notebook time limit" if late else "the kernel was lost too often"
    for number in wanted - run_log.observed.keys() - run_log.lost.keys():
        run_log.lost[number] = why
    run_log.seconds = time.monotonic() - started
    return run_log


def _attempt(steps, probes, limits, kernel, run_log, skipped) -> int | None:
    """Run once from the top, without the skipped cells; the index of the cell that ended it, or None."""
    try:
        kernel.start()
        latest = None  # the student's latest cell: to blame where a given cell meets the end
        for index, step in enumerate(steps):
            number, nonce = step.number, secrets.token_hex(8)
            done = number in run_log.observed or number in run_log.lost
            if index in skipped or (step.role == "check" and done):
                continue
            text = step.text
            if step.role == "check":
                text = probes[number](nonce)
            ran = kernel.run_cell(text)
            if ran.name == "OffLimits" and step.role in STUDENTS:
                rest = kernel.run_cell(f"{KERNEL_SIDE}.run_rest_of_cell({text!r})")
                ran = rest if rest.fatal else ran
            if ran.fatal:
                reason = _ended(kernel, ran)
                place = f"{'answer' if step.role == 'answer' else 'check'} {number}" if number else f"cell {index + 1}"
                run_log.events.append(f"{place}: {reason}")
                if step.role in ("check", "answer"):
                    run_log.lost.setdefault(number, reason)
                return latest if step.role == "provided" and latest is not None else index
            if step.role in STUDENTS:
                latest = index
            if step.role == "check":
                _note(run_log, number, nonce, ran, limits)
            elif step.role == "answer" and ran.outcome != "ok":
                run_log.cell_errors[number] = (TOO_LONG if ran.outcome == "time limit" else ran.name, ran.message)
        return None
    finally:
        kernel.close()


@dataclass(frozen=True)
class Probe:
    """How one answer is probed."""

    expression: str  # the answer
    sent: dict  # how it is called and on which cases, as plain data
    guarded: bool  # whether what is off limits raises

    def __call__(self, nonce: str) -> str:
        """The cell that probes the answer where it stands."""
        return f"{KERNEL_SIDE}.observe(lambda: ({self.expression}), {self.guarded}, {_packed(nonce, self.sent)})"

    def again(self, statements: tuple[tuple[str, bool], ...], nonce: str) -> str:
        """The cell that runs what the answer reaches and probes it (``observe_again``)."""
        reached = f"{self.expression!r}, {json.dumps(statements)!r}, {' '.join(sorted(KNOWN))!r}"
        call = dict(self.sent["call"], twice=False)  # that it does not remember is known
        call["off_limits"] = [name for name in call["off_limits"] if not name.startswith(LIBRARY)]  # these have no body
        return f"{SECOND_RUN}.observe_again({reached}, {_packed(nonce, dict(self.sent, call=call))})"


def _packed(nonce: str, sent: dict) -> str:
    text, data = pack(encode(sent, MAX_NODES_ALONE))
    if '"kind": "other"' in text:
        raise ValueError("the cases of an exercise are no plain data, or too many to be carried to an answer")
    return ", ".join(map(repr, (nonce, text, base64.b64encode(data).decode())))


def _note(run_log: RunLog, number: str, nonce: str, ran: CellResult, limits: Limits) -> None:
    payload, most = ran.payload, limits.observations_mb * MIB
    if ran.outcome == "time limit":
        run_log.lost[number] = "time limit"
    elif isinstance(payload, dict) and payload.get("nonce") == nonce:
        parts = {part: payload.get(part) for part in ("nonce", "undefined", "text", "data")}
        observation = {part: text for part, text in parts.items() if _is_ascii(text)}
        if sum(len(text) for seen in (*run_log.observed.values(), observation) for text in seen.values()) > most:
            run_log.lost[number] = "output limit"
            return
        run_log.observed[number] = observation
        run_log.audited[number] = tuple(map(str, payload.get("events") or ()))[:MAX_REMOVED_CALLS]
        called = payload.get("hidden")
        if isinstance(called, list):
            names = (name for name in called[:MAX_REMOVED_CALLS] if _is_ascii(name))
            run_log.removed_calls |= {name for name in names if len(name) < MAX_REMOVED_CALLS}
    else:
        detail = f"{ran.name}: {ran.message}" if ran.name else "no observation arrived"
        run_log.lost[number] = f"the check could not run: {detail}"


def _is_ascii(value: object) -> bool:
    return isinstance(value, str) and value.isascii()


def _ended(kernel: Kernel, ran: CellResult) -> str:
    if kernel.reason or ran.outcome != "died":
        return kernel.reason or ran.outcome
    status = kernel.process.status
    if status is None:
        return "the kernel ended"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)  # a real-time signal has no name
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        return f"the kernel was ended by {name}"
    return f"the kernel ended itself with exit status {os.WEXITSTATUS(status)}"
