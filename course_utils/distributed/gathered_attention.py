"""The other way to attend over a divided sequence: gather the keys and values of all ranks, and attend once.

Each rank then holds all ``L`` keys and values, not a few blocks of ``L / P``. What it sends is the same on the way there, and
less on the way back, where the keys are still at hand. Shape letters as in ``ring_attention``.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..arguments import require_same, require_shape
from .communication import Communicator, all_gather_bytes
from .partial_attention import partial_attention, partial_attention_backward
from .ring_attention import Ring


def gathered_attention(
    query: Float[Tensor, "B H n d_k"],
    key: Float[Tensor, "B H_kv n d_k"],
    value: Float[Tensor, "B H_kv n d_v"],
    communicator: Communicator,
    ring: Ring,
) -> Float[Tensor, "B H n d_v"]:
    """As ``ring_attention``, by one all-gather of keys and values, and on the way back one reduce-scatter of gradients.

    Source:
        Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022, section 4.2.2, gathers a
        divided sequence in this way; for keys and values: Llama Team, "The Llama 3 Herd of Models", 2024, section 3.3.2.
    """
    require_same(ring.layout.P, communicator.P, "the layout is for {} ranks, here are {}")
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        require_shape(name, tensor, "B H n d", n=ring.layout.L_local)
    return _GatheredAttention.apply(query, key, value, communicator, ring)


class _GatheredAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query: Tensor, key: Tensor, value: Tensor, communicator: Communicator, ring: Ring) -> Tensor:
        keys, values = (torch.cat(communicator.all_gather(x), dim=2) for x in (key, value))  # (B, H_kv, L, d)
        ctx.communicator, ctx.scale = communicator, ring.scale
        ctx.mask = mask_of_rank(ring, communicator.rank)
        output, lse = partial_attention(query, keys, values, _moved(ctx.mask, query), ring.scale)
        ctx.save_for_backward(query, keys, values, output, lse)
        return output.to(query.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, d_output: Tensor) -> tuple:
        query, keys, values, output, lse = ctx.saved_tensors
        output_dot = (d_output.to(output.dtype) * output).sum(dim=-1)  # (B, H, n)
        mask = _moved(ctx.mask, query)
        d_query, *gathered = partial_attention_backward(query, keys, values, d_output, lse, output_dot, mask, ctx.scale)
        comm = ctx.communicator
        d_key, d_value = (comm.reduce_scatter(x.chunk(comm.P, dim=2)) for x in gathered)  # (B, H_kv, n, d)
        return d_query.to(query.dtype), d_key.to(keys.dtype), d_value.to(values.dtype), None, None


def mask_of_rank(ring: Ring, rank: int) -> Bool[Tensor, "n L"] | None:
    """What the queries of a rank may see of all keys, in the order of the ranks; None: everything."""
    keys = ring.layout.order  # (L,)
    allowed = torch.ones(ring.layout.L_local, ring.layout.L, dtype=torch.bool)
    if ring.causal:
        allowed &= keys <= ring.layout.positions(rank)[:, None]  # (n, L)
    if ring.length is not None:
        allowed &= keys < ring.length
    return None if allowed.all() else allowed


def gathered_bytes(key_bytes: int, value_bytes: int, P: int) -> tuple[int, int]:
    """What each rank sends, forward and back, from the bytes of its own block of keys and of values.

    An all-gather, and a reduce-scatter of gradients that are ``P`` times as large: ``P - 1`` times the block for each.
    """
    forward = all_gather_bytes(key_bytes, P) + all_gather_bytes(value_bytes, P)
    return forward, forward


def _moved(mask: Tensor | None, like: Tensor) -> Tensor | None:
    return None if mask is None else mask.to(like.device)
