"""Grading on this machine's cores: a process for each job, replaced when it dies and ended when it takes too long."""

import concurrent.futures
import contextlib
import functools
import itertools
import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait

from .result import GradingSettings, unreadable
from .submissions.submission import Submission

TRIES = 2
START_S = 120.0  # loading PyTorch on a busy machine included
EXTRA_S = 60.0  # what grading may take on top of the notebook's own limit


@dataclass(frozen=True)
class Task:
    """A submission to be graded, with its bytes."""

    submission: Submission
    data: bytes
    key: str


def run_local(tasks: Iterable[Task], settings: GradingSettings, jobs: int) -> Iterator[tuple[Task, dict]]:
    """Grade tasks on this machine, so many ``jobs`` at a time; results come as they are ready.

    A process that dies costs its submission one more try.
    """
    with contextlib.ExitStack() as stack:
        graders, free = [], queue.SimpleQueue()
        for _ in range(jobs):
            graders.append(stack.enter_context(contextlib.closing(GradingProcess(settings))))
            free.put(graders[-1])
        threads = stack.enter_context(ThreadPoolExecutor(jobs))

        def grade(task: Task) -> dict:
            grader = free.get()
            try:
                return grader.grade(task)
            finally:
                free.put(grader)

        def submit(task: Task) -> Future:
            _context()  # here, in the main thread
            return threads.submit(grade, task)

        try:
            yield from as_ready(tasks, submit, 2 * jobs)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            for grader in graders:
                grader.stop()


def as_ready(tasks: Iterable[Task], submit: Callable[[Task], Future], most: int) -> Iterator[tuple[Task, dict]]:
    """Results as they are ready; no more than ``most`` tasks, and their submissions, are in memory."""
    source, waiting = iter(tasks), {}
    while True:
        waiting |= {submit(task): task for task in itertools.islice(source, most - len(waiting))}
        if not waiting:
            return
        for future in concurrent.futures.wait(waiting, return_when=FIRST_COMPLETED).done:
            yield waiting.pop(future), future.result()


class GradingProcess:
    """A grading process, and another one when it has died; started when there is something to grade.

    It runs ``serve``, with its end of a pipe and the settings.
    """

    def __init__(self, settings: GradingSettings, serve: Callable[..., None] | None = None) -> None:
        self.settings, self.serve = settings, serve or _serve
        self.most_s = settings.limits.notebook_s + EXTRA_S
        self.process: multiprocessing.Process | None = None
        self._pipe: Connection | None = None
        self._stopped = False

    def grade(self, task: Task) -> dict:
        """The result of one submission, whatever becomes of the process."""
        for _ in range(TRIES):
            if self.process is None or not self.process.is_alive():
                self.start()
            try:
                self._pipe.send((task.data, task.submission.label))
                answer = self._answer(self.most_s)
            except (OSError, EOFError):  # it died
                self.close()
                continue
            if answer is None:
                self.close()
                problem = f"grading it took more than {self.most_s:.0f} s and was ended; grade it by hand"
                return unreadable(problem, self.settings)
            return answer
        return lost(self.settings)

    def start(self) -> None:
        """Start a process and wait until it is ready."""
        self.close()
        if self._stopped:
            raise RuntimeError("grading was stopped")
        context, why = _context(), ""
        try:
            self._pipe, theirs = context.Pipe()
            with theirs:
                process = context.Process(target=self.serve, args=(theirs, self.settings), daemon=True)
                process.start()
            self.process = process
            if self._stopped:
                self.kill()
            if self._answer(START_S) is None:
                why = f"it was not ready after {START_S:.0f} s"
        except (OSError, EOFError) as problem:
            why = f"{type(problem).__name__} {problem}"
            if self.process is not None:
                self.process.join(1)
                why = f"it ended at once, with exit code {self.process.exitcode}; its own error stands above"
        if why:
            self.close()
            raise RuntimeError(f"no grading process started: {why}; if memory or time is short, lower --jobs")

    def _answer(self, seconds: float) -> object | None:
        """What the process says; None if it says nothing for so long."""
        if not wait([self._pipe, self.process.sentinel], seconds):
            return None
        return self._pipe.recv()

    def stop(self) -> None:
        """End the process at once and start no other. May be called by any thread."""
        self._stopped = True
        self.kill()

    def kill(self) -> None:
        """End the process at once."""
        process = self.process
        if process is not None:
            with contextlib.suppress(ValueError, AttributeError):
                process.kill()

    def close(self) -> None:
        """End the process and let go of it."""
        self.kill()
        if self.process is not None:
            self.process.join()
        if self._pipe is not None:
            self._pipe.close()
        self.process = self._pipe = None


def lost(settings: GradingSettings) -> dict:
    """The result of a submission whose grading process died again and again."""
    return unreadable(f"the process that graded it died {TRIES} times; grade it by hand", settings)


@functools.cache
def _context() -> multiprocessing.context.BaseContext:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver, resource_tracker  # not everywhere

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([f"{__package__}.grade"])  # PyTorch is loaded once for all grading processes
    resource_tracker.ensure_running()  # it would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the new process inherits this
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)  # a Ctrl-C of meanwhile is heard now
    return context


def _serve(pipe: Connection, settings: GradingSettings) -> None:
    """In a grading process: one thread for torch, no Ctrl-C of its own, and an end when the main process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # kernels are interrupted with it
    import torch

    from .grade import grade_one, own_fork_server

    def end_with_parent() -> None:
        wait([multiprocessing.parent_process().sentinel])
        os._exit(1)

    if settings.sandbox:
        own_fork_server().start()  # it loads PyTorch while the first submission is read
    torch.set_num_threads(1)
    threading.Thread(target=end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):  # the main process has ended
        pipe.send("ready")
        while True:
            data, label = pipe.recv()
            pipe.send(grade_one(data, label, settings))
