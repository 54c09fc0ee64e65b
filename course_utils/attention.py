"""Attention: a weighted average of values, its weights a softmax over scores between queries and keys.

Shape letters: ``*B`` leading (batch, head) dimensions, ``L_q`` queries, ``L_k`` keys, ``d_k`` size of a query or key,
``d_v`` size of a value. Masks are boolean and broadcast to ``(*B, L_q, L_k)``; **True means "may attend"**, as in
``torch.nn.functional.scaled_dot_product_attention``.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from .arguments import require_broadcast, require_probability, require_same, require_shape, require_sizes
from .masks import AttentionMask, require_boolean


def masked_softmax(
    scores: Float[Tensor, "*S"], mask: Bool[Tensor, "..."] | None = None, dim: int = -1
) -> Float[Tensor, "*S"]:
    """Softmax over ``dim``, in which positions where ``mask`` is False get weight exactly 0.

    A slice in which everything is masked gets all-zero weights, and zero gradients: never NaN, never uniform. The mask
    broadcasts to the shape of ``scores``; None hides nothing.

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, section 3.2.3: illegal connections are set to minus infinity
        before the softmax.

    Example:
        >>> masked_softmax(torch.tensor([1.0, 1.0, 5.0]), torch.tensor([True, True, False]))
        tensor([0.5000, 0.5000, 0.0000])
    """
    if mask is None:
        return torch.softmax(scores, dim=dim)
    require_boolean(mask)
    require_broadcast("mask", mask, scores.shape)
    hidden = ~mask
    hidden_rows = hidden.expand_as(scores).all(dim=dim, keepdim=True)
    # A row of nothing but -inf would give 0/0. Such rows get scores of 0 first, and their weights are zeroed below.
    scores = scores.masked_fill(hidden, -math.inf).masked_fill(hidden_rows, 0.0)
    return torch.softmax(scores, dim=dim).masked_fill(hidden, 0.0)


def nadaraya_watson(
    x_query: Float[Tensor, " L_q"],
    x_key: Float[Tensor, " L_k"],
    y_key: Float[Tensor, " L_k"],
    bandwidth: float | Float[Tensor, ""],
) -> tuple[Float[Tensor, " L_q"], Float[Tensor, "L_q L_k"]]:
    """Kernel regression with a Gaussian kernel: attention pooling over scalar queries and keys.

    It predicts the values at ``x_query`` from the values ``y_key`` that are known at ``x_key``, and gives
    ``(prediction, weights)``. The weight of key ``j`` for query ``i`` is ``softmax_j(-(x_i - x_j)^2 / (2 bandwidth^2))``.
    ``bandwidth`` is the width of the kernel in units of ``x``, positive; a 0-dim tensor if it is to be learned.

    Source:
        Nadaraya, "On Estimating Regression", 1964; Watson, "Smooth Regression Analysis", 1964.
    """
    if not bandwidth > 0:
        raise ValueError(f"bandwidth ({float(bandwidth):g}) must be positive: it is the width of the kernel")
    require_same(x_key.shape, y_key.shape, "x_key has shape {}, y_key {}: one value for each key")
    distance = x_query[:, None] - x_key[None, :]  # (L_q, L_k)
    weights = masked_softmax(-(distance**2) / (2 * bandwidth**2))  # (L_q, L_k)
    return weights @ y_key, weights


class AdditiveAttention(nn.Module):
    """Additive attention: ``score(q, k) = w_v . tanh(W_q q + W_k k)``; queries and keys may differ in size.

    ``d_hidden`` is the size of the space in which the two are added.

    Source:
        Bahdanau et al., "Neural Machine Translation by Jointly Learning to Align and Translate", 2015, section 3.1 and
        appendix A.1.2.
    """

    def __init__(self, d_query: int, d_key: int, d_hidden: int) -> None:
        super().__init__()
        require_sizes(d_query=d_query, d_key=d_key, d_hidden=d_hidden)
        self.q_proj = nn.Linear(d_query, d_hidden, bias=False)
        self.k_proj = nn.Linear(d_key, d_hidden, bias=False)
        self.v_proj = nn.Linear(d_hidden, 1, bias=False)

    def forward(
        self,
        query: Float[Tensor, "*B L_q d_query"],
        key: Float[Tensor, "*B L_k d_key"],
        value: Float[Tensor, "*B L_k d_v"],
        mask: Bool[Tensor, "..."] | None = None,
    ) -> tuple[Float[Tensor, "*B L_q d_v"], Float[Tensor, "*B L_q L_k"]]:
        """Attend, and give ``(output, weights)``. ``mask`` broadcasts to ``(*B, L_q, L_k)``; True = may attend."""
        for name, tensor, layer in (("query", query, self.q_proj), ("key", key, self.k_proj)):
            message = name + " has size {} in its last dimension, this layer expects {}"
            require_same(tensor.shape[-1], layer.in_features, message)
        _require_matching(query, key, value)
        hidden = self.q_proj(query)[..., :, None, :] + self.k_proj(key)[..., None, :, :]  # (*B, L_q, L_k, d_hidden)
        scores = self.v_proj(torch.tanh(hidden)).squeeze(-1)  # (*B, L_q, L_k)
        weights = masked_softmax(scores, mask)  # (*B, L_q, L_k)
        return weights @ value, weights


def scaled_dot_product_attention(
    query: Float[Tensor, "*B L_q d_k"],
    key: Float[Tensor, "*B L_k d_k"],
    value: Float[Tensor, "*B L_k d_v"],
    mask: Bool[Tensor, "..."] | AttentionMask | None = None,
    *,
    scale: float | None = None,
    dropout_p: float = 0.0,
    score_bias: Float[Tensor, "..."] | None = None,
) -> tuple[Float[Tensor, "*B L_q d_v"], Float[Tensor, "*B L_q L_k"]]:
    """``softmax(Q K^T * scale + score_bias) V``, and with it the weights as they were applied, after dropout.

    Args:
        mask: Broadcasts to ``(*B, L_q, L_k)``; True = may attend. A query that may attend to nothing gets zero weights and
            a zero output.
        scale: Factor on the scores; None means ``1 / sqrt(d_k)``.
        dropout_p: Probability with which each weight is dropped. It applies whenever it is not 0, as in PyTorch's function:
            pass 0 when evaluating.
        score_bias: Finite numbers added to the scaled scores, broadcastable to them: ALiBi, or a learned bias. What must
            not be seen at all belongs in ``mask``.

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, section 3.2.1, equation 1.
    """
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"query has size {query.shape[-1]}, key has size {key.shape[-1]} in the last dimension: "
            "a dot product needs the same size (AdditiveAttention does not)"
        )
    require_probability(dropout_p=dropout_p)
    _require_matching(query, key, value)
    if scale is None:
        scale = query.shape[-1] ** -0.5
    # Scaled before the product, not after: in half precision the unscaled sum may pass the largest number there is.
    scores = (query * scale) @ key.transpose(-2, -1)  # (*B, L_q, L_k)
    if score_bias is not None:
        _require_score_bias(score_bias, scores.shape)
        scores = scores + score_bias.to(scores.dtype)  # (*B, L_q, L_k)
    allowed = AttentionMask.of(mask).explicit(*scores.shape[-2:], scores.device)
    weights = masked_softmax(scores, allowed)  # (*B, L_q, L_k)
    if dropout_p > 0.0:
        weights = torch.dropout(weights, dropout_p, train=True)
    return weights @ value, weights  # (*B, L_q, d_v)


def fused_attention(
    query: Float[Tensor, "B H L_q d_head"],
    key: Float[Tensor, "B H_kv L_k d_head"],
    value: Float[Tensor, "B H_kv L_k d_v"],
    mask: Bool[Tensor, "..."] | AttentionMask | None = None,
    *,
    scale: float | None = None,
    dropout_p: float = 0.0,
    score_bias: Float[Tensor, "..."] | None = None,
) -> tuple[Float[Tensor, "B H L_q d_v"], None]:
    """The output of ``scaled_dot_product_attention`` by PyTorch's fused kernel, which never holds the weights.

    Arguments as there; ``H_kv`` heads of keys and values, a divisor of ``H``, are shared by ``H / H_kv`` query heads each.
    A query that may attend to nothing gets zeros, and zero gradients.
    """
    require_shape("query", query, "B H L_q d_k")
    require_shape("key", key, "B H_kv L_k d_k")
    (batch, num_heads, L_q, _), (_, num_kv_heads, L_k, _) = query.shape, key.shape
    attention_mask = AttentionMask.of(mask)
    options = {"scale": scale, "dropout_p": dropout_p, "enable_gqa": num_kv_heads != num_heads}
    if attention_mask.is_causal:
        if score_bias is None and L_q == L_k:
            return F.scaled_dot_product_attention(query, key, value, is_causal=True, **options), None
        attention_mask = AttentionMask(attention_mask.explicit(L_q, L_k, query.device))
    if attention_mask.allowed is not None:
        require_broadcast("mask", attention_mask.allowed, (batch, num_heads, L_q, L_k))
    allowed, empty = attention_mask.fused()
    if score_bias is not None:
        # The kernel takes one mask only: the bias, and minus infinity where nothing may be seen.
        _require_score_bias(score_bias, (batch, num_heads, L_q, L_k))
        bias = torch.atleast_2d(score_bias.to(query.dtype))
        allowed = bias if allowed is None else torch.where(allowed, bias, -math.inf)
    heads = F.scaled_dot_product_attention(query, key, value, allowed, **options)  # (B, H, L_q, d_v)
    return heads if empty is None else heads.masked_fill(empty, 0.0), None


def _require_matching(query: Tensor, key: Tensor, value: Tensor) -> None:
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        require_shape(name, tensor, "... length size")
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError(
            f"batch dimensions differ: query {tuple(query.shape[:-2])}, key {tuple(key.shape[:-2])}, "
            f"value {tuple(value.shape[:-2])}"
        )
    require_same(key.shape[-2], value.shape[-2], "{} keys but {} values: each key needs exactly one value")


def _require_score_bias(score_bias: Tensor, shape: tuple[int, ...]) -> None:
    if not score_bias.is_floating_point():
        raise TypeError(
            f"score_bias has dtype {score_bias.dtype}; expected floating-point numbers, which are added to the scores. "
            "A boolean mask goes into mask="
        )
    require_broadcast("score_bias", score_bias, shape)
