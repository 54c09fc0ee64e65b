"""All ranks of a ring in one process, step by step: the same programs as in real processes, for more ranks than cores."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..arguments import require_divides, require_shape
from .communication import Result, RingProgram, num_bytes
from .ring_attention import Ring


@dataclass(frozen=True)
class SimulatedRing:
    """What came of it, the tokens in their own order again.

    Args:
        output: Of attention, (B, H, L, d_v).
        gradients: Of queries, keys and values; None if no gradient was handed in.
        forward_bytes: What each rank has sent, (P,).
        backward_bytes: The same on the way back, (P,).
        multiplications: Forward, of each rank in each step, (P, P).
    """

    output: Float[Tensor, "B H L d_v"]
    gradients: tuple[Tensor, Tensor, Tensor] | None
    forward_bytes: Int[Tensor, " P"]
    backward_bytes: Int[Tensor, " P"]
    multiplications: Int[Tensor, "P P"]


def run_in_lockstep(programs: Sequence[RingProgram[Result]]) -> tuple[list[Result], Int[Tensor, " P"]]:
    """Run the programs of all ranks, and give what each returns and how many bytes each has sent.

    Each runs to its next ``yield``, rank 0 first; then all get what the rank before them has handed over.

    Raises:
        RuntimeError: A rank is done while others still hand on: in real processes these would wait for ever.
    """
    P = len(programs)
    results, sent, arriving = [None] * P, torch.zeros(P, dtype=torch.int64), [None] * P
    while True:
        outgoing, done = [None] * P, []
        for rank, program in enumerate(programs):
            try:
                outgoing[rank] = program.send(arriving[rank])
                sent[rank] += num_bytes(*outgoing[rank])
            except StopIteration as end:
                results[rank] = end.value
                done.append(rank)
        if len(done) == P:
            return results, sent
        if done:
            raise RuntimeError(f"ranks {done} are done and the others still hand on: these would wait for ever")
        arriving = [_delivery(outgoing[rank - 1]) for rank in range(P)]


def simulate_ring(
    query: Float[Tensor, "B H L d_k"],
    key: Float[Tensor, "B H_kv L d_k"],
    value: Float[Tensor, "B H_kv L d_v"],
    ring: Ring,
    d_output: Float[Tensor, "B H L d_v"] | None = None,
) -> SimulatedRing:
    """Ring attention of a whole sequence, divided among the ranks of ``ring``; with ``d_output`` the way back too."""
    layout, ranks = ring.layout, range(ring.layout.P)
    own = [[layout.shard(x, rank) for x in (query, key, value)] for rank in ranks]
    results, forward_bytes = run_in_lockstep([ring.forward(rank, *own[rank]) for rank in ranks])
    gradients, backward_bytes = None, torch.zeros_like(forward_bytes)
    if d_output is not None:
        back = [ring.backward(rank, *own[rank], *results[rank], layout.shard(d_output, rank)) for rank in ranks]
        parts, backward_bytes = run_in_lockstep(back)
        gradients = tuple(layout.unshard(x) for x in zip(*parts, strict=True))
    batch, num_heads, _, d_k = query.shape
    work = work_table(ring) * batch * num_heads * (d_k + value.shape[-1])
    output = layout.unshard([output for output, _ in results])
    return SimulatedRing(output, gradients, forward_bytes, backward_bytes, work)


def work_table(ring: Ring) -> Int[Tensor, "P P"]:
    """How many pairs of a query and a key each rank (row) computes in each step (column), for one head of one sequence.

    A pair costs ``d_k + d_v`` multiplications. The ring takes the largest number of each column: all wait for the slowest.
    """
    ranks = range(ring.layout.P)
    return torch.tensor([[sum(tile.pairs for tile in ring.tiles(rank, step)) for step in ranks] for rank in ranks])


def visible_table(ring: Ring) -> Int[Tensor, "P P"]:
    """As ``work_table``, but only pairs that may be seen: what a kernel with the smallest tiles would compute."""
    ranks = range(ring.layout.P)

    def seen(rank: int, step: int) -> int:
        return sum(t.pairs if t.mask is None else int(t.mask.sum()) for t in ring.tiles(rank, step))

    return torch.tensor([[seen(rank, step) for step in ranks] for rank in ranks])


def pair_table(positions: Int[Tensor, "P n"], seen: Bool[Tensor, "L L"], tile: int = 1) -> Int[Tensor, "P P"]:
    """How many pairs each rank (row) computes in each step (column), under any mask and for any division of the tokens.

    A rank cuts the block of a step into tiles of ``tile`` x ``tile`` pairs, in the order of its tokens, and computes those whole
    in which at least one pair may be seen.

    Args:
        positions: Of each rank's tokens in the text, each position once.
        seen: What may be seen, queries by keys, by position in the text.
        tile: Its side; divides ``n``.

    Raises:
        ValueError: The positions aren't those of the mask, each once, or ``tile`` doesn't divide ``n``.

    Example:
        >>> pair_table(torch.tensor([[0, 3], [1, 2]]), torch.ones(4, 4, dtype=torch.bool).tril()).tolist()
        [[3, 2], [3, 2]]
    """
    require_shape("positions", positions, "P n")
    P, n = positions.shape
    require_shape("seen", seen, "L L", L=P * n)
    require_divides("tile", tile, "n", n)
    if positions.flatten().sort().values.tolist() != list(range(P * n)):
        raise ValueError(
            f"positions must hold each of 0 to {P * n - 1} once, one row for each rank; they are {positions.tolist()}"
        )

    def computed(queries: Tensor, keys: Tensor) -> int:
        tiles = seen[queries][:, keys].view(n // tile, tile, n // tile, tile)
        return int(tiles.any(dim=3).any(dim=1).sum()) * tile**2

    return torch.tensor([[computed(positions[rank], positions[rank - step]) for step in range(P)] for rank in range(P)])


def _delivery(tensors: tuple[Tensor, ...]):
    copies = tuple(tensor.clone() for tensor in tensors)  # another rank's memory is not this one's
    return lambda: copies
