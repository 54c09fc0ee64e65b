"""Grading on a dask.distributed cluster: the same function, on other machines."""

from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, Future

from .limits import Limits
from .pool import Task, as_ready, lost
from .result import GradingSettings, course_digest, failed
from .running.sandbox import Sandbox

CONNECT_S, WORKERS_S = 10.0, 30.0
START = "start each with `dask worker ADDRESS --nthreads 1` from the environment of this process"


def run_cluster(tasks: Iterable[Task], settings: GradingSettings, address: str) -> Iterator[tuple[Task, dict]]:
    """Grade tasks on the workers of a scheduler; results come as they are ready.

    A worker that dies costs its submissions another try on another worker. The address is such as ``tcp://10.0.0.1:8786``.
    """
    from distributed import Client

    try:
        client = Client(address, set_as_default=False, timeout=CONNECT_S)
    except Exception as problem:  # of many types, and without a word for a machine that has no address
        why = str(problem) or type(problem).__name__
        raise RuntimeError(f"--scheduler ({address}): no dask scheduler answers there ({why})") from None
    with client:
        _check_workers(client, settings, address)
        executor = client.get_executor(pure=False, retries=2)

        def submit(task: Task) -> Future:
            future, outcome = executor.submit(grade, task.data, task.submission.label, settings), Future()
            future.add_done_callback(lambda future: _settle(outcome, future, settings, address))
            return outcome

        yield from as_ready(tasks, submit, 2 * sum(client.nthreads().values()))


def grade(data: bytes, label: str, settings: GradingSettings) -> dict:
    """On a worker: grade one submission."""
    import torch

    from .grade import grade_one

    torch.set_num_threads(1)
    return grade_one(data, label, settings)


def ready(limits: Limits | None) -> str:
    """On a worker: which version of the course it has; an error if it cannot make a sandbox."""
    if limits is not None:
        Sandbox(limits).close()
    return course_digest()


def _check_workers(client, settings: GradingSettings, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=WORKERS_S)
    except TimeoutError:
        raise RuntimeError(f"--scheduler ({address}): it has no worker; {START}") from None
    answers = client.run(ready, settings.limits if settings.sandbox else None, on_error="return")
    for worker, answer in answers.items():
        if isinstance(answer, BaseException):
            why = f"{type(answer).__name__}: {answer}".removeprefix("Exception: ")  # which Dask puts around some
            raise RuntimeError(f"worker {worker} cannot grade ({why}); {START}")
        if answer != course_digest():
            raise RuntimeError(f"worker {worker} has another version of the course than this process; {START}")


def _settle(outcome: Future, future: Future, settings: GradingSettings, address: str) -> None:
    """Give ``outcome`` the result of one submission, whatever became of it on its worker."""
    from distributed import KilledWorker

    try:
        outcome.set_result(future.result())
    except KilledWorker:
        outcome.set_result(lost(settings))
    except CancelledError:  # no submission's fault
        gone = f"--scheduler ({address}): the scheduler is gone; what was graded is kept, so run the same command again"
        outcome.set_exception(RuntimeError(gone))
    except Exception as problem:
        outcome.set_result(failed(problem, settings))
