"""Grading on a dask.distributed cluster: the same function, on other machines."""

from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError

from .grade import GradingSettings, failed, grade_one
from .pool import Task, lost


def run_cluster(tasks: Iterable[Task], settings: GradingSettings, address: str) -> Iterator[tuple[Task, dict]]:
    """Grade tasks on the workers of a scheduler; results come as they are ready.

    A worker that dies costs its submissions another try on another worker. Start workers with ``--nthreads 1``, one for each
    core, from the same environment as this process.

    Args:
        tasks: What to grade.
        settings: As for the whole class.
        address: The scheduler's, such as ``"tcp://10.0.0.1:8786"``.
    """
    from distributed import Client, KilledWorker, as_completed

    with Client(address, set_as_default=False) as client:
        source, waiting = iter(tasks), {}
        results = as_completed(loop=client.loop)

        def send() -> None:
            task = next(source, None)
            if task is not None:
                arguments = (task.data, task.submission.label, settings)
                future = client.submit(grade_one, *arguments, pure=False, retries=2)
                waiting[future.key] = task
                results.add(future)

        for _ in range(2 * max(1, sum(client.nthreads().values()))):
            send()
        for future in results:
            task = waiting.pop(future.key)
            try:
                result = future.result()
            except KilledWorker:
                result = lost(settings)
            except CancelledError:  # the scheduler is gone: no submission's fault
                raise
            except Exception as problem:
                result = failed(problem, settings)
            future.release()
            yield task, result
            send()
