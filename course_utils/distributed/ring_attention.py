"""Attention over a sequence that is divided among ranks: blocks of keys and values travel in a ring.

Each rank keeps its queries. In step ``s`` rank ``r`` holds the keys and values that rank ``r - s`` began with, attends to
them, merges, and hands them on. After ``P`` steps every query has met every key, and besides its own, which
it keeps for the way back, no rank has held more than two blocks at a time. On the way back
the same blocks travel again, and their gradients with them, which after one more transfer are at home.

Shape letters: ``B`` batch, ``H`` query heads, ``H_kv`` key/value heads, ``n`` tokens of a rank, ``L / P``.

Source:
    Liu, Zaharia, Abbeel, "Ring Attention with Blockwise Transformers for Near-Infinite Context", 2023, section 3.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..arguments import require_same, require_shape
from .communication import Communicator, RingProgram, run_in_ring
from .layouts import Layout, Tile, tiles
from .partial_attention import merge, partial_attention, partial_attention_backward, wide


@dataclass(frozen=True)
class Ring:
    """What all ranks must agree on.

    Args:
        layout: Which tokens each rank holds.
        causal: Whether a query sees only keys at its own position and before, by GLOBAL position.
        scale: Factor on the scores; None means ``1 / sqrt(d_k)``.
        length: Tokens at this position and after are padding, which nobody sees; None: there is none.
    """

    layout: Layout
    causal: bool = False
    scale: float | None = None
    length: int | None = None

    def __post_init__(self) -> None:
        if self.length is not None and not 1 <= self.length <= self.layout.L:
            raise ValueError(f"length ({self.length}) must be from 1 to L ({self.layout.L}), the tokens with padding")

    def tiles(self, rank: int, step: int) -> list[Tile]:
        """What rank ``rank`` computes in a step; its keys are those of rank ``rank - step``."""
        return tiles(self.layout, rank, (rank - step) % self.layout.P, causal=self.causal, length=self.length)

    def forward(
        self,
        rank: int,
        query: Float[Tensor, "B H n d_k"],
        key: Float[Tensor, "B H_kv n d_k"],
        value: Float[Tensor, "B H_kv n d_v"],
    ) -> RingProgram[tuple[Tensor, Tensor]]:
        """The program of one rank: its ``(output, lse)`` over all keys, of shapes (B, H, n, d_v) and (B, H, n)."""
        self._require_own(rank, query, key, value)
        P, dtype = self.layout.P, wide(query.dtype)
        output = query.new_zeros((*query.shape[:-1], value.shape[-1]), dtype=dtype)  # (B, H, n, d_v)
        lse = query.new_full(query.shape[:-1], -math.inf, dtype=dtype)  # (B, H, n)
        for step in range(P):
            last = step == P - 1
            if not last:
                arriving = yield key, value
            for tile in self.tiles(rank, step):
                q, k = (..., tile.queries, slice(None)), (..., tile.keys, slice(None))
                part = partial_attention(query[q], key[k], value[k], _on(tile, query), self.scale)
                output[q], lse[..., tile.queries] = merge(output[q], lse[..., tile.queries], *part)
            if not last:
                key, value = arriving()
        return output.to(query.dtype), lse

    def backward(
        self,
        rank: int,
        query: Float[Tensor, "B H n d_k"],
        key: Float[Tensor, "B H_kv n d_k"],
        value: Float[Tensor, "B H_kv n d_v"],
        output: Float[Tensor, "B H n d_v"],
        lse: Float[Tensor, "B H n"],
        d_output: Float[Tensor, "B H n d_v"],
    ) -> RingProgram[tuple[Tensor, Tensor, Tensor]]:
        """The program of one rank on the way back: gradients of its own queries, keys and values."""
        P, dtype = self.layout.P, wide(query.dtype)
        output_dot = (d_output.to(dtype) * output.to(dtype)).sum(dim=-1)  # (B, H, n)
        d_query = torch.zeros_like(query, dtype=dtype)
        gradients = None
        for step in range(P):
            last = step == P - 1
            if not last:
                arriving = yield key, value
            d_key, d_value = torch.zeros_like(key, dtype=dtype), torch.zeros_like(value, dtype=dtype)
            for tile in self.tiles(rank, step):
                q, k = (..., tile.queries, slice(None)), (..., tile.keys, slice(None))
                by_query = d_output[q], lse[..., tile.queries], output_dot[..., tile.queries]
                parts = partial_attention_backward(query[q], key[k], value[k], *by_query, _on(tile, query), self.scale)
                for total, place, part in zip((d_query, d_key, d_value), (q, k, k), parts, strict=True):
                    total[place] += part
            if gradients is not None:  # of this block, by the ranks where it was before
                d_key, d_value = (own + other for own, other in zip((d_key, d_value), gradients(), strict=True))
            if P > 1:
                gradients = yield d_key, d_value
            if not last:
                key, value = arriving()
        if gradients is not None:
            d_key, d_value = gradients()
        return d_query.to(query.dtype), d_key.to(key.dtype), d_value.to(value.dtype)

    def _require_own(self, rank: int, query: Tensor, key: Tensor, value: Tensor) -> None:
        for name, tensor in (("query", query), ("key", key), ("value", value)):
            require_shape(name, tensor, "B H n d", n=self.layout.L_local, why=f": n is L / P, on rank {rank} too")


def ring_attention(
    query: Float[Tensor, "B H n d_k"],
    key: Float[Tensor, "B H_kv n d_k"],
    value: Float[Tensor, "B H_kv n d_v"],
    communicator: Communicator,
    ring: Ring,
) -> Float[Tensor, "B H n d_v"]:
    """Attention of this rank's queries to the keys of all ranks, called by all of them; gradients go the same way.

    Every rank must go back through it too, or none: the gradient of a key comes from all of them.
    """
    require_same(ring.layout.P, communicator.P, "the layout is for {} ranks, here are {}")
    return _RingAttention.apply(query, key, value, communicator, ring)


class _RingAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query: Tensor, key: Tensor, value: Tensor, communicator: Communicator, ring: Ring) -> Tensor:
        output, lse = run_in_ring(ring.forward(communicator.rank, query, key, value), communicator)
        ctx.save_for_backward(query, key, value, output, lse)
        ctx.communicator, ctx.ring = communicator, ring
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx, d_output: Tensor) -> tuple:
        program = ctx.ring.backward(ctx.communicator.rank, *ctx.saved_tensors, d_output)
        return *run_in_ring(program, ctx.communicator), None, None


def ring_bytes(key_bytes: int, value_bytes: int, P: int) -> tuple[int, int]:
    """What each rank sends, forward and back, from the bytes of its own block of keys and of values.

    Forward both go ``P - 1`` times to the next rank. On the way back they do so again, and their gradients ``P`` times.
    In half precision, whose gradients are summed in float32, the gradients are twice as large as this says.
    """
    forward = (P - 1) * (key_bytes + value_bytes)
    return forward, forward + (P * (key_bytes + value_bytes) if P > 1 else 0)


def _on(tile: Tile, like: Tensor) -> Tensor | None:
    return None if tile.mask is None else tile.mask.to(like.device)
