"""Which tokens each rank holds: in a row, from both ends (zigzag), or in stripes; and what is left to compute of a mask.

With a causal mask the first tokens see little and the last see all. If each rank holds tokens in a row, the last rank works
all the time and the first waits; zigzag and stripes give every rank early and late tokens.

Shape letters: ``L`` tokens of the whole sequence, ``P`` ranks; a rank holds ``L / P`` of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor

from ..arguments import require_one_of, require_same, require_sizes


@dataclass(frozen=True)
class Layout:
    """For each rank the chunks of positions that it holds, in this order; all ranks hold equally many tokens.

    ``layout("zigzag", L, P)`` and the like make one.
    """

    chunks: tuple[tuple[range, ...], ...]

    @property
    def P(self) -> int:
        """How many ranks there are."""
        return len(self.chunks)

    @property
    def L_local(self) -> int:
        """How many tokens each rank holds."""
        return sum(map(len, self.chunks[0]))

    @property
    def L(self) -> int:
        """How many tokens there are."""
        return self.P * self.L_local

    def positions(self, rank: int) -> Int[Tensor, " L_local"]:
        """The global positions of the tokens that a rank holds."""
        return torch.tensor([position for chunk in self.chunks[rank] for position in chunk])

    @property
    def order(self) -> Int[Tensor, " L"]:
        """All positions, those of rank 0 first."""
        return torch.cat([self.positions(rank) for rank in range(self.P)])

    def shard(self, x: Shaped[Tensor, "..."], rank: int, dim: int = -2) -> Shaped[Tensor, "..."]:
        """The part of a whole sequence that a rank holds; ``dim`` is the dimension of the tokens."""
        require_same(x.shape[dim], self.L, "x has {} tokens, this layout is for {}")
        return x.index_select(dim, self.positions(rank).to(x.device))

    def unshard(self, parts: Sequence[Shaped[Tensor, "..."]], dim: int = -2) -> Shaped[Tensor, "..."]:
        """The whole sequence in its own order, from the parts of all ranks."""
        require_same(len(parts), self.P, "parts has {} tensors, this layout is for {} ranks")
        whole = torch.cat(list(parts), dim=dim)
        return whole.index_select(dim, inverse_order(self.order).to(whole.device))


@dataclass(frozen=True)
class Tile:
    """A block of the scores that has to be computed.

    Args:
        queries: Which of the rank's own queries, as places in its block.
        keys: Which keys of the block that it holds at the moment.
        mask: What may be seen in it; None: everything.
    """

    queries: slice
    keys: slice
    mask: Bool[Tensor, "n_q n_k"] | None

    @property
    def pairs(self) -> int:
        """How many products of a query and a key are computed."""
        return (self.queries.stop - self.queries.start) * (self.keys.stop - self.keys.start)


def layout(name: str, L: int, P: int) -> Layout:
    """One of three layouts of ``L`` tokens on ``P`` ranks.

    - "contiguous": rank ``r`` holds the ``r``-th of ``P`` chunks.
    - "zigzag": of ``2P`` chunks, rank ``r`` holds the ``r``-th from the front and the ``r``-th from the end.
    - "striped": rank ``r`` holds tokens ``r``, ``r + P``, ``r + 2P`` ...

    Raises:
        ValueError: ``P`` (for zigzag ``2P``) does not divide ``L``. Pad the sequence, and name its own length when attending.

    Source:
        Liu, Zaharia, Abbeel, 2023, section 3 (contiguous); Brandon et al., "Striped Attention", 2023, section 3 (striped);
        zigzag: the repository zhuzilin/ring-flash-attention, 2024.
    """
    require_one_of("name", name, ("contiguous", "zigzag", "striped"))
    require_sizes(L=L, P=P)
    number, letters = (2 * P, "2P") if name == "zigzag" else (P, "P")
    if L % number:
        missing = -L % number
        raise ValueError(
            f"L ({L}) must be a multiple of {letters} ({number}), so that all ranks hold equally many tokens: pad with "
            f"{missing} more, F.pad(x, (0, 0, 0, {missing})), and hide them with length={L}"
        )
    n = L // number
    if name == "striped":
        return Layout(tuple((range(rank, L, P),) for rank in range(P)))
    chunks = [range(start, start + n) for start in range(0, L, n)]
    if name == "zigzag":
        return Layout(tuple((chunks[rank], chunks[-1 - rank]) for rank in range(P)))
    return Layout(tuple((chunk,) for chunk in chunks))


def zigzag_order(L: int, P: int) -> Int[Tensor, " L"]:
    """The positions of all tokens, rank by rank, in the zigzag layout: ``x[:, zigzag_order(L, P)]``, cut into ``P`` parts.

    Example:
        >>> zigzag_order(8, 2).tolist()
        [0, 1, 6, 7, 2, 3, 4, 5]
    """
    return layout("zigzag", L, P).order


def inverse_order(order: Int[Tensor, " L"]) -> Int[Tensor, " L"]:
    """The order that undoes another: ``x[order][inverse_order(order)]`` is ``x``."""
    inverse = torch.empty_like(order)
    inverse[order] = torch.arange(len(order), device=order.device)
    return inverse


def tiles(of: Layout, q_rank: int, k_rank: int, *, causal: bool = False, length: int | None = None) -> list[Tile]:
    """What has to be computed between the queries of one rank and the keys of another, chunk by chunk.

    A chunk of keys that no query of a chunk may see is left out; in one that is seen in part, all is computed, and masked.

    Args:
        causal: A query sees keys at its own position and before, by GLOBAL position.
        length: Tokens at this position and after are padding, which nobody sees. None: there is none.
    """
    end, needed, q_start = of.L if length is None else length, [], 0
    for q in of.chunks[q_rank]:
        k_start = 0
        for k in of.chunks[k_rank]:
            if k.start < end and (not causal or k.start <= q[-1]):
                whole = k[-1] < end and (not causal or k[-1] <= q.start)
                mask = None if whole else _mask(q, k, causal, end)  # (n_q, n_k)
                needed.append(Tile(slice(q_start, q_start + len(q)), slice(k_start, k_start + len(k)), mask))
            k_start += len(k)
        q_start += len(q)
    return needed


def _mask(q: range, k: range, causal: bool, end: int) -> Tensor:
    q_positions, k_positions = torch.tensor(q)[:, None], torch.tensor(k)[None, :]
    real = (k_positions < end).expand(len(q), len(k))
    return real & (k_positions <= q_positions) if causal else real
