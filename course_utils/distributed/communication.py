"""What ranks send to one another, with the bytes counted as they are sent.

A program of a rank in a ring is written as a generator: ``arriving = yield key, value`` hands these to the next rank, and
``arriving()`` waits for what the previous rank has handed on. What runs between the two hides the time of the transfer. The
same program runs in real processes (``run_in_ring``) and for all ranks in one process (``simulation.run_in_lockstep``).
"""

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

import torch
import torch.distributed as dist
from jaxtyping import Shaped
from torch import Tensor

from ..arguments import require_same, require_sizes

Result = TypeVar("Result")
Arriving = Callable[[], tuple[Tensor, ...]]
RingProgram = Generator[tuple[Tensor, ...], Arriving, Result]


class Communicator:
    """The calls of ``torch.distributed`` that the course uses, for this rank; ``bytes_sent`` counts what it has sent.

    A message to one rank counts with its size, a collective operation as the ring algorithm sends it, whatever the backend
    does: it is the one that needs the fewest bytes.

    Args:
        group: The process group; None: all ranks.
    """

    def __init__(self, group: dist.ProcessGroup | None = None) -> None:
        if not dist.is_initialized():
            raise RuntimeError("there is no process group here: run_on_ranks(function, P, ...) makes one for its ranks")
        self.group = group
        self.rank, self.P = dist.get_rank(group), dist.get_world_size(group)
        self.bytes_sent = 0

    def exchange(self, *tensors: Shaped[Tensor, "..."]) -> Arriving:
        """Begin to send to the next rank, and to receive as much from the previous one; call the result to wait for it.

        All ranks must hand over tensors of the same shapes.
        """
        if self.P == 1:
            return lambda: tensors
        sent = [tensor.contiguous() for tensor in tensors]
        received = [torch.empty_like(tensor) for tensor in sent]
        after, before = self._global((self.rank + 1) % self.P), self._global((self.rank - 1) % self.P)
        operations = [dist.P2POp(dist.isend, tensor, after, self.group, tag) for tag, tensor in enumerate(sent)]
        operations += [dist.P2POp(dist.irecv, tensor, before, self.group, tag) for tag, tensor in enumerate(received)]
        works = dist.batch_isend_irecv(operations)
        self.bytes_sent += num_bytes(*sent)

        def arriving() -> tuple[Tensor, ...]:
            for work in works:
                work.wait()
            sent.clear()  # until here it had to live
            return tuple(received)

        return arriving

    def all_reduce(self, tensor: Shaped[Tensor, "..."]) -> Shaped[Tensor, "..."]:
        """The sum over all ranks, a new tensor on each."""
        total = tensor.contiguous().clone()
        dist.all_reduce(total, group=self.group)
        self.bytes_sent += all_reduce_bytes(num_bytes(tensor), self.P)
        return total

    def all_gather(self, tensor: Shaped[Tensor, "..."]) -> list[Tensor]:
        """What each rank has, in the order of the ranks, on all of them."""
        parts = [torch.empty_like(tensor, memory_format=torch.contiguous_format) for _ in range(self.P)]
        dist.all_gather(parts, tensor.contiguous(), group=self.group)
        self.bytes_sent += all_gather_bytes(num_bytes(tensor), self.P)
        return parts

    def reduce_scatter(self, parts: Sequence[Shaped[Tensor, "..."]]) -> Shaped[Tensor, "..."]:
        """Of one part for each rank: the sum over all ranks of the part for this one."""
        require_same(len(parts), self.P, "parts has {} tensors; expected one for each of {} ranks")
        totals = [part.contiguous().clone() for part in parts]
        for rank, total in enumerate(totals):  # PyTorch 2.5's gloo has no operation for all at once
            dist.reduce(total, self._global(rank), group=self.group)
        self.bytes_sent += reduce_scatter_bytes(num_bytes(*parts), self.P)
        return totals[self.rank]

    def _global(self, rank: int) -> int:
        return rank if self.group is None else dist.get_global_rank(self.group, rank)


def run_in_ring(program: RingProgram[Result], communicator: Communicator) -> Result:
    """Run the program of this rank, while the other ranks run theirs."""
    try:
        outgoing = next(program)
        while True:
            outgoing = program.send(communicator.exchange(*outgoing))
    except StopIteration as end:
        return end.value


def num_bytes(*tensors: Shaped[Tensor, "..."]) -> int:
    """How many bytes the numbers of these tensors take."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def all_reduce_bytes(size: int, P: int) -> int:
    """What a rank sends to sum a tensor of ``size`` bytes over ``P`` ranks in a ring: ``2 (P - 1) / P`` times its size.

    A reduce-scatter, then an all-gather of the sums. Where ``P`` does not divide it, it is rounded to whole bytes.

    Source:
        Patarasuk, Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations", 2009, section 3.
    """
    require_sizes(P=P)
    return round(2 * (P - 1) * size / P)


def reduce_scatter_bytes(size: int, P: int) -> int:
    """What a rank sends so that each ends with its own ``1 / P`` of a sum of ``size`` bytes: ``(P - 1) / P`` times that."""
    require_sizes(P=P)
    return round((P - 1) * size / P)


def all_gather_bytes(local_size: int, P: int) -> int:
    """What a rank sends so that all have what each had, ``local_size`` bytes: ``P - 1`` times that, its own and others'."""
    require_sizes(P=P)
    return (P - 1) * local_size
