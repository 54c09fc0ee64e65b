"""Run a function in several processes that talk to one another through ``torch.distributed``, from a notebook too.

Each rank is a new Python, started by ``subprocess``. PyTorch's own starters were considered:
``torch.multiprocessing.start_processes`` looks functions up by name, which finds none of a notebook, runs the main program
again in each process, and lets the ranks print into one another; ``torch.distributed.elastic`` keeps their output apart on
Linux only and leaves its own handler for Ctrl-C behind.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import torch

from ..arguments import require_one_of, require_same, require_sizes
from .rank_process import JOB, RankFiles
from .sending import file_of, pack, plain

MOST_RANKS = 32
START_SECONDS = 120.0  # in which all ranks must have started: each loads PyTorch
MOST_PRINTED = 10_000_000  # bytes
START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from pathlib import Path; "
START += "from course_utils.distributed.rank_process import main; main(Path(sys.argv[2]), int(sys.argv[3]))"


@dataclass(frozen=True)
class RankResult:
    """What came of one rank.

    Args:
        rank: Its number.
        value: What the function returned there; tensors on the CPU, without a graph.
        printed: What it printed.
        complaints: What went to the error output: warnings, messages of libraries.
        error: None, or why there is no value.
    """

    rank: int
    value: object = None
    printed: str = ""
    complaints: str = ""
    error: str | None = None

    def __repr__(self) -> str:
        text = f"rank {self.rank}: " + (self.error or _short(self.value))
        for name, lines in (("printed", self.printed), ("error output", self.complaints)):
            text += _quoted(name, lines)
        return text


class RankResults(tuple):
    """The ``RankResult`` of each rank, in order."""

    @property
    def values(self) -> list[object]:
        """What the function returned, rank by rank."""
        return [result.value for result in self]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))


class RanksFailed(RuntimeError):
    """A rank raised, died or did not finish in time, so all were ended. ``results`` has what there is of each."""

    def __init__(self, message: str, results: RankResults) -> None:
        super().__init__(message)
        self.results = results

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: where the rank was is in the message, and where the starting process was says nothing."""
        return str(self).split("\n")


def run_on_ranks(
    function: Callable,
    P: int,
    *arguments: object,
    per_rank: Sequence[tuple] | None = None,
    timeout: float = 60.0,
    backend: str = "gloo",
) -> RankResults:
    """Call ``function(rank, P, *arguments)`` in ``P`` processes, whose process group is set up, and wait for all.

    The function may be one of a notebook: it goes to the ranks as text, and with it go imports, functions, classes, numbers
    and strings that it uses. Everything else must be an argument: tensors, numbers, strings, None, and lists, tuples and
    dicts of these, which each rank gets as a copy of its own. The same holds for what it returns. Each rank computes in one
    thread.

    Args:
        P: How many ranks, at most 32.
        per_rank: For each rank a tuple of further arguments, which only that rank gets.
        timeout: Seconds in which the function must be done everywhere, from when all ranks have started.
        backend: "gloo", or "nccl" with a GPU for each rank, which the function moves its tensors to.

    Raises:
        RanksFailed: A rank raised an error, died, or was not done in time. The message names it and shows what it had
            printed. All ranks have been ended by then, at the latest 1 second after ``timeout``. After Ctrl-C too, no
            process and no file is left.
        TypeError: The function refers to something that cannot go with it, or an argument is nothing that can be sent.
    """
    require_sizes(P=P)
    if P > MOST_RANKS:
        raise ValueError(
            f"P ({P}) must be at most {MOST_RANKS} processes on one machine: simulate more ranks than that"
        )
    if not timeout > 0:
        raise ValueError(f"timeout ({timeout}) must be positive: it is in seconds")
    require_one_of("backend", backend, ("gloo", "nccl"))
    if per_rank is not None:
        require_same(len(per_rank), P, "per_rank has arguments for {} ranks, P is {}")
    if not callable(function):
        raise TypeError(f"function is a {type(function).__name__}; expected a function of (rank, P, *arguments)")
    name, entries = pack(function)
    arguments = tuple(plain(f"argument {i}", argument) for i, argument in enumerate(arguments, start=1))
    job = {"P": P, "timeout": float(timeout), "backend": backend, "name": name, "entries": entries}
    with tempfile.TemporaryDirectory(prefix="ranks_", ignore_cleanup_errors=True) as path:
        folder = Path(path)
        files = [RankFiles(folder, rank) for rank in range(P)]
        torch.save(job | {"arguments": arguments}, folder / JOB)
        for rank, own in enumerate(per_rank or ()):
            torch.save(plain(f"per_rank[{rank}]", tuple(own)), files[rank].arguments)
        processes: list[subprocess.Popen] = []
        try:
            for rank in range(P):
                processes.append(_start(folder, rank, files[rank]))
            why = _wait(processes, files, timeout)
            results = RankResults(_result(rank, files[rank], why.get(rank)) for rank in range(P))
            if why:
                raise RanksFailed(_failure(results, files, why, name, timeout), results)
            for process in processes:
                with contextlib.suppress(OSError):  # it died after it had handed in its result
                    process.stdin.write(b"\n")
                    process.stdin.flush()
            return results
        finally:
            _end(processes, patience=0.0 if sys.exc_info()[0] else 5.0)


def _start(folder: Path, rank: int, files: RankFiles) -> subprocess.Popen:
    environment = {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
    loopback = [name for _, name in socket.if_nameindex() if name in ("lo", "lo0")] if os.name == "posix" else []
    if loopback:  # all ranks are on this machine, whose own name may lead nowhere
        environment["GLOO_SOCKET_IFNAME"] = loopback[0]
    command = [sys.executable, "-c", START, json.dumps(sys.path), str(folder), str(rank)]
    with files.printed.open("wb") as printed, files.complaints.open("wb") as complaints:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,  # closed when this process ends, whatever ends it; then the rank ends too
            stdout=printed,
            stderr=complaints,
            env=os.environ | environment,
            start_new_session=True,  # Ctrl-C in a terminal reaches this process alone, which ends the ranks
        )


def _wait(processes: list[subprocess.Popen], files: list[RankFiles], timeout: float) -> dict[int, str]:
    """Until every rank has a value, or one has failed: which ranks failed, the first first, and why."""
    deadline, running = time.monotonic() + START_SECONDS, False
    while True:
        if all(file.value.exists() for file in files):
            return {}
        if any(f.error.exists() or p.poll() is not None for p, f in zip(processes, files, strict=True)):
            time.sleep(0.2)  # where several end at once, let all do it
            return _failed(processes, files)
        for rank, file in enumerate(files):
            if file.printed.stat().st_size + file.complaints.stat().st_size > MOST_PRINTED:
                return {rank: f"printed more than {MOST_PRINTED // 1_000_000} MB"}
        if not running and all(file.ready.exists() for file in files):
            deadline, running = time.monotonic() + timeout, True
        if time.monotonic() > deadline:
            late = [rank for rank, file in enumerate(files) if not file.value.exists()]
            why = f"was not done after {timeout:g} s" if running else f"had not started after {START_SECONDS:g} s"
            return dict.fromkeys(late, why)
        time.sleep(0.01)


def _failed(processes: list[subprocess.Popen], files: list[RankFiles]) -> dict[int, str]:
    """Ranks that died come first, since their death makes others fail; then those with errors, the earliest first."""
    died, raised = {}, []
    for rank, (process, file) in enumerate(zip(processes, files, strict=True)):
        if file.error.exists():
            report = json.loads(file.error.read_text(encoding="utf-8"))
            raised.append((report["time"], rank, "raised " + "\n  ".join([report["error"], *report["traceback"]])))
        elif process.poll() is not None:
            died[rank] = "died: " + _exit_reason(process.returncode)
    return died | {rank: why for _, rank, why in sorted(raised)}


def _exit_reason(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"the signal {signal.Signals(-code).name} ended its process"
    return f"its process ended with exit code {code} before the function had returned"


def _failure(results: RankResults, files: list[RankFiles], why: dict[int, str], name: str, timeout: float) -> str:
    late = all("was not done" in reason for reason in why.values())
    ranks = list(why) if late else list(why)[:1]  # what follows from the first failure says nothing
    parts = []
    for rank in ranks:
        text = f"rank {rank} of {len(results)} {why[rank]}" + (_standing(files[rank], name) if late else "")
        parts.append(text + _quoted("it had printed", results[rank].printed))
        if not late and "died" in why[rank]:
            parts[-1] += _quoted("its error output", results[rank].complaints)
    if late and len(ranks) < len(results):
        parts.append("done: " + ", ".join(f"rank {result.rank}" for result in results if result.rank not in why))
    return "\n".join([*parts, "All ranks were ended."])


def _standing(files: RankFiles, name: str) -> str:
    """Where a rank was shortly before the time was over, if that can be seen."""
    lines = files.where.read_text(encoding="utf-8").splitlines() if files.where.exists() else []
    here = f'File "{file_of(name)}", line '
    return next((f", at line {line.split(here)[1].split()[0]} of {name}" for line in lines if here in line), "")


def _result(rank: int, files: RankFiles, why: str | None) -> RankResult:
    printed, complaints = _tail(files.printed), _tail(files.complaints)
    value = torch.load(files.value, weights_only=True) if files.value.exists() else None
    if value is None and not files.value.exists() and why is None:
        why = "was ended with the others"
    return RankResult(rank, value, printed, complaints, why)


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - MOST_PRINTED))
        return file.read(MOST_PRINTED).decode("utf-8", "replace")


def _end(processes: list[subprocess.Popen], patience: float) -> None:
    """End all processes and what they have started; those that are about to end by themselves have ``patience`` seconds."""
    deadline = time.monotonic() + patience
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
        with contextlib.suppress(psutil.Error):
            for started in psutil.Process(process.pid).children(recursive=True):
                started.kill()
        if os.name == "posix":
            # The number of a group is not given away while it has members, also after its first process has ended.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    for process in processes:
        process.wait()
        with contextlib.suppress(OSError):
            process.stdin.close()


def _short(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}" if value.numel() > 4 else repr(value)
    if isinstance(value, list | tuple):
        return ("[{}]" if isinstance(value, list) else "({})").format(", ".join(map(_short, value)))
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _quoted(name: str, lines: str) -> str:
    lines = lines.strip("\n")
    if not lines:
        return ""
    if len(lines) > 2000:
        lines = "... " + lines[-2000:]
    return f"\n  {name}:" + "".join(f"\n  | {line}" for line in lines.splitlines())
