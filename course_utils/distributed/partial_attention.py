"""Attention over some of the keys, and how partial results become the whole: the mathematics of one step of a ring.

Softmax over all keys needs one number of each part: the log of the sum of its exponentials, ``lse``. Two outputs, each
divided by the sum of its own keys, are averaged with weights ``exp(lse)``; that is the softmax over the keys of both.

Shape letters: ``B`` batch, ``H`` query heads, ``H_kv`` key/value heads, ``L_q`` queries, ``L_k`` keys of this part, ``d_k``
and ``d_v`` sizes of a key and of a value. Masks are boolean, True = may attend. Half precision is computed in float32.

Source:
    Milakov, Gimelshein, "Online normalizer calculation for softmax", 2018, section 3; Dao et al., "FlashAttention", 2022,
    section 3.1 and appendix B; Liu, Zaharia, Abbeel, "Ring Attention with Blockwise Transformers", 2023, section 3.
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..arguments import require_broadcast, require_divides, require_same, require_shape
from ..masks import require_boolean
from ..multi_head import repeat_kv


def partial_attention(
    query: Float[Tensor, "B H L_q d_k"],
    key: Float[Tensor, "B H_kv L_k d_k"],
    value: Float[Tensor, "B H_kv L_k d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    scale: float | None = None,
) -> tuple[Float[Tensor, "B H L_q d_v"], Float[Tensor, "B H L_q"]]:
    """Attention over these keys alone, and for each query the log of the sum of its exponentials over them.

    A query that sees none of these keys has output 0 and ``lse`` minus infinity. ``mask`` broadcasts to
    ``(B, H, L_q, L_k)``; ``scale`` None means ``1 / sqrt(d_k)``.
    """
    _require_heads(query, key, value)
    scores, _, value = _scores(query, key, value, mask, scale)  # (B, H, L_q, L_k)
    lse = torch.logsumexp(scores, dim=-1)  # (B, H, L_q)
    return _weights(scores, lse) @ value, lse  # (B, H, L_q, d_v)


def merge(
    output_1: Float[Tensor, "B H L_q d_v"],
    lse_1: Float[Tensor, "B H L_q"],
    output_2: Float[Tensor, "B H L_q d_v"],
    lse_2: Float[Tensor, "B H L_q"],
) -> tuple[Float[Tensor, "B H L_q d_v"], Float[Tensor, "B H L_q"]]:
    """Attention over the keys of both parts, which have none in common, from that over each."""
    require_same(output_1.shape, output_2.shape, "the outputs have shapes {} and {}; both are of the same queries")
    require_same(lse_1.shape, output_1.shape[:-1], "lse_1 has shape {}; the outputs need one number for each query, {}")
    require_same(lse_2.shape, output_1.shape[:-1], "lse_2 has shape {}; the outputs need one number for each query, {}")
    lse = torch.logaddexp(lse_1, lse_2)  # (B, H, L_q)
    return _share(lse_1, lse) * output_1 + _share(lse_2, lse) * output_2, lse


def partial_attention_backward(
    query: Float[Tensor, "B H L_q d_k"],
    key: Float[Tensor, "B H_kv L_k d_k"],
    value: Float[Tensor, "B H_kv L_k d_v"],
    d_output: Float[Tensor, "B H L_q d_v"],
    lse: Float[Tensor, "B H L_q"],
    output_dot: Float[Tensor, "B H L_q"],
    mask: Bool[Tensor, "..."] | None = None,
    scale: float | None = None,
) -> tuple[Float[Tensor, "B H L_q d_k"], Float[Tensor, "B H_kv L_k d_k"], Float[Tensor, "B H_kv L_k d_v"]]:
    """What these keys add to the gradients: of the queries, and of the keys and values themselves.

    The weights are computed again, from ``lse`` over ALL keys; nothing of size ``L_q x L_k`` was kept.

    Args:
        d_output: Gradient of the loss with respect to the merged output.
        lse: Over all keys, as ``merge`` gave it in the end.
        output_dot: ``(d_output * output).sum(-1)``, of the merged output.

    Source:
        Dao et al., "FlashAttention", 2022, appendix B.2 and B.4 (``output_dot`` is its D).
    """
    _require_heads(query, key, value)
    num_kv_heads, factor = key.shape[1], query.shape[-1] ** -0.5 if scale is None else scale
    scores, key, value = _scores(query, key, value, mask, scale)  # (B, H, L_q, L_k)
    weights = _weights(scores, lse)
    d_output = d_output.to(weights.dtype)
    d_weights = d_output @ value.transpose(-2, -1)  # (B, H, L_q, L_k)
    d_scores = weights * (d_weights - output_dot[..., None]) * factor  # (B, H, L_q, L_k)
    d_query = d_scores @ key  # (B, H, L_q, d_k)
    d_key = d_scores.transpose(-2, -1) @ query.to(weights.dtype)  # (B, H, L_k, d_k)
    d_value = weights.transpose(-2, -1) @ d_output  # (B, H, L_k, d_v)
    return d_query, _sum_shared(d_key, num_kv_heads), _sum_shared(d_value, num_kv_heads)


def wide(dtype: torch.dtype) -> torch.dtype:
    """The type in which sums are kept: float32 for half precision, otherwise the type itself."""
    return torch.promote_types(dtype, torch.float32)


def _scores(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float | None) -> tuple:
    """Scores with minus infinity where nothing may be seen; keys and values for each query head; all in the wide type."""
    dtype, repeats = wide(query.dtype), query.shape[1] // key.shape[1]
    key, value = (repeat_kv(x.to(dtype), repeats) for x in (key, value))  # (B, H, L_k, d)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = (query.to(dtype) * scale) @ key.transpose(-2, -1)  # (B, H, L_q, L_k)
    if mask is not None:
        require_boolean(mask)
        require_broadcast("mask", mask, scores.shape)
        scores = scores.masked_fill(~mask, -math.inf)
    return scores, key, value


def _weights(scores: Tensor, lse: Tensor) -> Tensor:
    """``exp(scores - lse)``, and 0 for a query that sees nothing, whose ``lse`` is minus infinity."""
    return torch.exp(scores - lse.masked_fill(lse == -math.inf, 0.0)[..., None])  # (B, H, L_q, L_k)


def _share(part: Tensor, whole: Tensor) -> Tensor:
    return torch.exp(part - whole.masked_fill(whole == -math.inf, 0.0))[..., None]  # (B, H, L_q, 1)


def _sum_shared(gradient: Tensor, num_kv_heads: int) -> Tensor:
    """A key or value that several query heads share gets the sum of their gradients."""
    return gradient.unflatten(1, (num_kv_heads, -1)).sum(dim=2)  # (B, H, L_k, d) -> (B, H_kv, L_k, d)


def _require_heads(query: Tensor, key: Tensor, value: Tensor) -> None:
    require_shape("query", query, "B H L_q d_k")
    batch, num_heads, _, d_k = query.shape
    require_shape("key", key, "B H_kv L_k d_k", B=batch, d_k=d_k)
    require_shape("value", value, "B H_kv L_k d_v", B=batch, H_kv=key.shape[1], L_k=key.shape[2])
    require_divides("H_kv", key.shape[1], "H", num_heads)
