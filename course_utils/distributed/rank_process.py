"""What runs in the process of one rank: join the others, call the function, leave what came of it in a folder."""

import contextlib
import faulthandler
import json
import os
import shutil
import sys
import threading
import time
import traceback
from datetime import timedelta
from pathlib import Path

import torch

from .sending import file_of, plain, unpack

JOB, STORE = "job.pt", "store"


class RankFiles:
    """The files in which one rank leaves what the starting process reads.

    Args:
        folder: The folder of this run.
        rank: Whose files.
    """

    def __init__(self, folder: Path, rank: int) -> None:
        self.printed, self.complaints = folder / f"printed_{rank}", folder / f"complaints_{rank}"
        self.ready, self.where = folder / f"ready_{rank}", folder / f"where_{rank}"
        self.value, self.error = folder / f"value_{rank}.pt", folder / f"error_{rank}.json"
        self.arguments = folder / f"arguments_{rank}.pt"


def main(folder: Path, rank: int) -> None:
    """Be rank ``rank`` of the job in ``folder``, and end when the starting process says so, or is gone.

    A rank that has finished stays until all have: gloo may drop what it has not delivered yet when a process ends
    (pytorch/gloo, issue 155), and where a rank has failed the others would add errors of their own.
    """
    released = threading.Event()
    threading.Thread(target=_wait_for_release, args=(folder, released), daemon=True).start()
    files = RankFiles(folder, rank)
    try:
        value = _call(folder, rank, files)
        _write(files.value, lambda path: torch.save(value, path))
    except BaseException as error:
        report = {"time": time.time(), "error": _message(error), "traceback": _lines(error)}
        _write(files.error, lambda path: path.write_text(json.dumps(report), encoding="utf-8"))
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    released.wait()
    os._exit(0)


def _call(folder: Path, rank: int, files: RankFiles) -> object:
    import torch.distributed as dist

    torch.set_num_threads(1)
    job = torch.load(folder / JOB, weights_only=True)
    P, timeout = job["P"], job["timeout"]
    if job["backend"] == "nccl":
        torch.cuda.set_device(rank)
    store = dist.FileStore(str(folder / STORE), P)
    # The starting process keeps the time; this limit is for the case that it cannot.
    patience = timedelta(seconds=timeout + 600)
    dist.init_process_group(job["backend"], store=store, rank=rank, world_size=P, timeout=patience)
    function = unpack(job["name"], [tuple(entry) for entry in job["entries"]])
    own = torch.load(files.arguments, weights_only=True) if files.arguments.exists() else ()
    with files.where.open("w") as where:
        faulthandler.dump_traceback_later(max(timeout - 0.5, timeout / 2), file=where)
        files.ready.touch()
        try:
            value = function(rank, P, *job["arguments"], *own)
        finally:
            faulthandler.cancel_dump_traceback_later()  # before its file is closed
    return plain("the result", value)


def _wait_for_release(folder: Path, released: threading.Event) -> None:
    if sys.stdin.buffer.read(1):
        released.set()
        return
    shutil.rmtree(folder, ignore_errors=True)  # the starting process is gone, and nobody else tidies up
    os._exit(1)


def _write(path: Path, write: object) -> None:
    """Under its own name a file is there whole or not at all."""
    unfinished = path.with_suffix(".unfinished")
    write(unfinished)
    unfinished.replace(path)


def _message(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip()


def _lines(error: BaseException) -> list[str]:
    """Where the function was, outermost first, without what is below it in the libraries."""
    frames = traceback.extract_tb(error.__traceback__)
    sent = [frame for frame in frames if frame.filename == file_of(frame.filename[1:-1])]
    return [f"line {frame.lineno} of {frame.filename[1:-1]}: {frame.line}" for frame in sent]
