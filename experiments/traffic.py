"""What ranks really send, beside what ``Communicator`` counts: ``python -m experiments traffic`` (Linux only).

Four ranks on one machine, with no other traffic beside them. Linux counts the bytes that pass through its loopback device, with
a few per cent for the headers of packets.
"""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import torch
import torch.distributed as dist

from course_utils.distributed.communication import Communicator, num_bytes, reduce_scatter_bytes
from course_utils.distributed.processes import run_on_ranks

from .runs import Run

P, NUMBERS = 4, 2_000_000  # float32: 8 MB on each rank
OPERATIONS = ("exchange", "all_gather", "all_reduce", "reduce_scatter", "parts sent straight")
FIELDS = ("operation", "counted", "measured")  # megabytes, of all ranks together


def loopback_bytes() -> int:
    """What this machine has sent to itself so far."""
    lines = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()
    (numbers,) = (line.split(":")[1].split() for line in lines if line.strip().startswith("lo:"))
    return int(numbers[8])


def megabytes(rank: int, P: int, operation: str, numbers: int) -> tuple[float, float]:
    """On one rank: what all counted, and what the machine sent meanwhile."""
    communicator, x = Communicator(), torch.ones(numbers)
    dist.barrier()
    before = loopback_bytes()
    dist.barrier()
    if operation == "exchange":
        communicator.exchange(x)()
    elif operation == "reduce_scatter":
        communicator.reduce_scatter(x.chunk(P))
    elif operation == "parts sent straight":
        communicator.bytes_sent = reduce_scatter_bytes(num_bytes(x), P)
        send_straight(rank, P, x.chunk(P))
    else:
        getattr(communicator, operation)(x)
    dist.barrier()
    time.sleep(0.2)
    return P * communicator.bytes_sent / 1e6, (loopback_bytes() - before) / 1e6


def send_straight(rank: int, P: int, parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """What ``reduce_scatter`` gives: each part goes to the rank that adds it, and nowhere else."""
    others = [other for other in range(P) if other != rank]
    received = [torch.empty_like(parts[rank]) for _ in others]
    works = [dist.isend(parts[other].contiguous(), other) for other in others]
    works += [dist.irecv(buffer, other) for buffer, other in zip(received, others, strict=True)]
    for work in works:
        work.wait()
    return parts[rank] + sum(received)


def run(operation: str) -> list[dict[str, object]]:
    """One operation, a row of ``FIELDS``."""
    counted, measured = run_on_ranks(megabytes, P, operation, NUMBERS).values[0]
    return [dict(zip(FIELDS, (operation, round(counted, 1), round(measured, 1)), strict=True))]


def runs(_table: Path) -> Iterator[Run]:
    """One run for each operation."""
    for operation in OPERATIONS:
        yield {"operation": operation}, partial(run, operation)
