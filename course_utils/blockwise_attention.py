"""Exact attention block by block: memory grows with the length, not with its square, backward too.

Shape letters: ``B`` batch, ``H`` query heads, ``H_kv`` key/value heads, ``G = H / H_kv`` query heads for each of them, ``L_q``
queries, ``L_k`` keys, ``n`` queries and ``m`` keys of one block. Masks as everywhere: True = may attend.

Source:
    Milakov, Gimelshein, "Online normalizer calculation for softmax", 2018, algorithm 3; Rabe, Staats, "Self-attention Does Not
    Need O(n^2) Memory", 2021; Dao et al., "FlashAttention", 2022, algorithms 1 and 4, with the loop over queries outside as in
    Dao, "FlashAttention-2", 2023, section 3.1.
"""

import math
from collections.abc import Iterator

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from .arguments import require_broadcast, require_divides, require_same, require_shape, require_sizes
from .masks import AttentionMask


def attention_in_blocks(
    query: Float[Tensor, "B H L_q d_k"],
    key: Float[Tensor, "B H_kv L_k d_k"],
    value: Float[Tensor, "B H_kv L_k d_v"],
    mask: Bool[Tensor, "..."] | AttentionMask | None = None,
    *,
    scale: float | None = None,
    block_size: int = 256,
) -> Float[Tensor, "B H L_q d_v"]:
    """The output of ``scaled_dot_product_attention``, of which no more than one block of weights is held at a time.

    The backward pass computes each block's weights again from the queries, the keys and one number for each query, the
    logarithm of its sum of exponentials. Gradients of second order are not supported.

    Args:
        key: ``H_kv`` heads, a divisor of ``H``; each is shared by ``H / H_kv`` query heads in a row.
        mask: Broadcasts to ``(B, H, L_q, L_k)``. ``AttentionMask(is_causal=True)`` needs no mask of that size, and skips the
            blocks of keys that all queries of a block must not see. A query that may attend to nothing gets zeros.
        scale: Factor on the scores; None means ``1 / sqrt(d_k)``.
        block_size: Queries, and keys, in a block.

    Raises:
        ValueError: Shapes do not fit, or ``block_size`` is not positive.
        TypeError: ``mask`` is not boolean.

    Example:
        >>> q, k, v = torch.randn(3, 2, 4, 7, 8).unbind(0)
        >>> attention_in_blocks(q, k, v, AttentionMask(is_causal=True), block_size=3).shape
        torch.Size([2, 4, 7, 8])
    """
    require_sizes(block_size=block_size)
    require_shape("query", query, "B H L_q d_k")
    batch, heads, L_q, d_k = query.shape
    require_shape("key", key, "B H_kv L_k d_k", B=batch, d_k=d_k)
    L_k = key.shape[2]
    require_shape("value", value, "B H_kv L_k d_v", B=batch, H_kv=key.shape[1], L_k=L_k)
    require_divides("H_kv", key.shape[1], "H", heads)
    mask = AttentionMask.of(mask)
    if mask.is_causal:
        require_same(L_k, L_q, "is_causal hides the future of {} keys from {} queries; use causal_mask")
    elif mask.allowed is not None:
        require_broadcast("mask", mask.allowed, (batch, heads, L_q, L_k))
    scale = d_k**-0.5 if scale is None else scale
    return _InBlocks.apply(query, key, value, mask, scale, block_size)


class _InBlocks(torch.autograd.Function):
    """Forward keeps a running maximum and sum for each query, backward computes the weights again."""

    @staticmethod
    def forward(ctx, query: Tensor, key: Tensor, value: Tensor, mask: AttentionMask, scale: float, size: int) -> Tensor:
        q = query.unflatten(1, (key.shape[1], -1))  # (B, H_kv, G, L_q, d_k)
        k, v = key[:, :, None], value[:, :, None]  # (B, H_kv, 1, L_k, d) each
        output = q.new_empty(*q.shape[:-1], v.shape[-1])  # (B, H_kv, G, L_q, d_v)
        log_sums = q.new_empty(q.shape[:-1])  # (B, H_kv, G, L_q)
        for rows in _blocks(q.shape[-2], size):
            scaled = q[..., rows, :] * scale  # (B, H_kv, G, n, d_k)
            largest = scaled.new_full((*scaled.shape[:-1], 1), -math.inf)  # (B, H_kv, G, n, 1)
            total = torch.zeros_like(largest)
            summed = scaled.new_zeros(*scaled.shape[:-1], v.shape[-1])  # (B, H_kv, G, n, d_v)
            for columns in _seen_by(rows, k.shape[-2], size, mask):
                scores = _masked(scaled @ k[..., columns, :].mT, mask, q.shape, rows, columns)  # (B, H_kv, G, n, m)
                new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
                reference = new.masked_fill(new == -math.inf, 0.0)  # a query that has seen nothing yet: exp(-inf - 0)
                shrink, weights = (largest - reference).exp(), (scores - reference).exp()
                total = total * shrink + weights.sum(dim=-1, keepdim=True)
                summed = summed * shrink + weights @ v[..., columns, :]
                largest = new
            output[..., rows, :] = summed / total.masked_fill(total == 0, 1.0)
            log_sums[..., rows] = (largest + total.log())[..., 0]  # -inf for a query that may attend to nothing
        ctx.save_for_backward(query, key, value, output, log_sums)
        ctx.options = mask, scale, size
        return output.flatten(1, 2)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, output, log_sums = ctx.saved_tensors
        mask, scale, size = ctx.options
        q = query.unflatten(1, (key.shape[1], -1))  # (B, H_kv, G, L_q, d_k)
        k, v = key[:, :, None], value[:, :, None]  # (B, H_kv, 1, L_k, d) each
        d_out = gradient.unflatten(1, (key.shape[1], -1))  # (B, H_kv, G, L_q, d_v)
        d_q, d_k, d_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        # What every weight's gradient of a row is compared with: its mean over the row's weights.
        mean = (d_out * output).sum(dim=-1, keepdim=True)  # (B, H_kv, G, L_q, 1)
        empty = log_sums == -math.inf
        log_sums = log_sums.masked_fill(empty, math.inf)[..., None]  # exp(score - inf) is 0: such rows get no weight
        for rows in _blocks(q.shape[-2], size):
            scaled, d_o = q[..., rows, :] * scale, d_out[..., rows, :]
            for columns in _seen_by(rows, k.shape[-2], size, mask):
                scores = _masked(scaled @ k[..., columns, :].mT, mask, q.shape, rows, columns)  # (B, H_kv, G, n, m)
                weights = (scores - log_sums[..., rows, :]).exp()
                d_v[..., columns, :] += (weights.mT @ d_o).sum(dim=2, keepdim=True)  # over the G heads that share it
                d_weights = d_o @ v[..., columns, :].mT
                d_scores = weights * (d_weights - mean[..., rows, :])  # (B, H_kv, G, n, m)
                d_q[..., rows, :] += (d_scores @ k[..., columns, :]) * scale
                d_k[..., columns, :] += (d_scores.mT @ scaled).sum(dim=2, keepdim=True)
        return d_q.flatten(1, 2), d_k[:, :, 0], d_v[:, :, 0], None, None, None


def _blocks(length: int, size: int) -> Iterator[slice]:
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


def _seen_by(rows: slice, length: int, size: int, mask: AttentionMask) -> Iterator[slice]:
    """The blocks of keys of which some query of ``rows`` may see something, as far as that is known without looking."""
    return _blocks(min(length, rows.stop) if mask.is_causal else length, size)


def _masked(
    scores: Float[Tensor, "B H_kv G n m"], mask: AttentionMask, shape: torch.Size, rows: slice, columns: slice
) -> Float[Tensor, "B H_kv G n m"]:
    """Scores of one block, minus infinity where its part of the mask hides; ``shape`` is that of all queries."""
    if mask.is_causal:
        if columns.stop <= rows.start + 1:
            return scores
        places = [torch.arange(it.start, it.stop, device=scores.device) for it in (rows, columns)]
        return scores.masked_fill(places[1] > places[0][:, None], -math.inf)
    if mask.allowed is None:
        return scores
    allowed = mask.allowed[(None,) * (4 - mask.allowed.dim())]  # (1 or B, 1 or H, 1 or L_q, 1 or L_k)
    allowed = allowed[
        :, :, rows if allowed.shape[2] > 1 else slice(None), columns if allowed.shape[3] > 1 else slice(None)
    ]
    # (1 or B, H_kv, G, ...) or (1 or B, 1, 1, ...)
    allowed = allowed.unflatten(1, shape[1:3]) if allowed.shape[1] > 1 else allowed[:, :, None]
    return scores.masked_fill(~allowed, -math.inf)
