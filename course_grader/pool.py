"""Grading on this machine's cores: a process for each job, replaced when it dies."""

import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import wait

import torch

from .grade import Terms, grade_one, own_fork_server, unreadable
from .submissions.submission import Submission

TRIES = 2


@dataclass(frozen=True)
class Task:
    """A submission to be graded, with its bytes."""

    submission: Submission
    data: bytes
    key: str


def run_local(tasks: Iterable[Task], terms: Terms, jobs: int) -> Iterator[tuple[Task, dict]]:
    """Grade tasks on this machine; results come as they are ready.

    A process that dies costs its submission one more try. Tasks are taken when a process is free, so that no more than a few
    submissions are in memory.

    Args:
        tasks: What to grade.
        terms: As for the whole class.
        jobs: How many at a time.
    """
    source, taking, done = iter(tasks), threading.Lock(), queue.Queue(maxsize=2 * jobs)
    stopped = threading.Event()

    def work() -> None:
        pool = _pool(terms.sandbox)
        try:
            while not stopped.is_set():
                with taking:
                    task = next(source, None)
                if task is None:
                    return
                for left in reversed(range(TRIES)):
                    try:
                        result = pool.submit(grade_one, task.data, task.submission.label, terms).result()
                        break
                    except BrokenProcessPool:
                        pool.shutdown(wait=False)
                        pool = _pool(terms.sandbox)
                        if not left:
                            result = lost(terms)
                done.put((task, result))
        except BaseException as problem:  # the class must not wait for a thread that is gone
            done.put(problem)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            done.put(None)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        running = len(threads)
        while running:
            item = done.get()
            if isinstance(item, BaseException):
                raise item
            if item is None:
                running -= 1
            else:
                yield item
    finally:
        stopped.set()
        for process in multiprocessing.active_children():
            process.kill()


def lost(terms: Terms) -> dict:
    """The result of a submission whose grading process died again and again."""
    return unreadable(f"the process that graded it died {TRIES} times; grade it by hand", terms)


def _pool(sandbox: bool) -> ProcessPoolExecutor:
    kind = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(kind)
    if kind == "forkserver":
        context.set_forkserver_preload([f"{__package__}.grade"])  # PyTorch is loaded once for all grading processes
    return ProcessPoolExecutor(1, mp_context=context, initializer=_settle, initargs=(sandbox,))


def _settle(sandbox: bool) -> None:
    """In a grading process: one thread for torch, no Ctrl-C of its own, and an end when the main process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sandbox:
        own_fork_server().start()  # it loads PyTorch while the first submission is read
    torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    wait([multiprocessing.parent_process().sentinel])
    os._exit(1)
