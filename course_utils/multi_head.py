"""Multi-head attention, and its relatives that share keys and values among heads: grouped-query and multi-query.

Shape letters: ``B`` batch, ``H`` query heads, ``H_kv`` key/value heads, ``L_q`` queries, ``L_k`` keys, ``d_head`` size of a
head; ``d_model = H * d_head``. Masks are boolean and broadcast to ``(B, H, L_q, L_k)``; True = may attend.
"""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from .arguments import require_divides, require_probability, require_same, require_shape, require_sizes
from .attention import fused_attention, scaled_dot_product_attention
from .kv_cache import KVCache, WindowCache
from .masks import AttentionMask
from .positions import RotaryPositions


def split_heads(x: Float[Tensor, "B L d_model"], num_heads: int) -> Float[Tensor, "B H L d_head"]:
    """Cut the last dimension into heads and bring the heads forward, as a view; ``num_heads`` must divide ``d_model``.

    Head ``h`` holds features ``h * d_head`` to ``(h + 1) * d_head - 1``.
    """
    require_shape("x", x, "B L d_model")
    require_divides("num_heads", num_heads, "d_model", x.shape[-1])
    batch, length, d_model = x.shape
    heads = x.view(batch, length, num_heads, d_model // num_heads)  # (B, L, H, d_head)
    return heads.transpose(1, 2)  # (B, H, L, d_head)


def merge_heads(x: Float[Tensor, "B H L d_head"]) -> Float[Tensor, "B L d_model"]:
    """Put the heads side by side again: the inverse of ``split_heads``."""
    require_shape("x", x, "B H L d_head")
    return x.transpose(1, 2).flatten(2)  # (B, L, H, d_head) -> (B, L, H * d_head)


def repeat_kv(x: Float[Tensor, "B H_kv L d_head"], num_repeats: int) -> Float[Tensor, "B H L d_head"]:
    """Hand each key/value head to ``num_repeats`` query heads in a row: 0 0 1 1 2 2, as ``repeat_interleave`` does.

    ``num_repeats`` is ``H / H_kv``, and query head ``h`` meets key/value head ``h // num_repeats``. (``repeat`` would give
    0 1 2 0 1 2: the same shape, other partners.)

    Source:
        Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints", 2023,
        section 2.2.
    """
    require_sizes(num_repeats=num_repeats)
    require_shape("x", x, "B H_kv L d_head")
    return x if num_repeats == 1 else x.repeat_interleave(num_repeats, dim=1)


class MultiHeadAttention(nn.Module):
    """Multi-head attention (H_kv = H), grouped-query attention (1 < H_kv < H) or multi-query attention (H_kv = 1).

    Args:
        d_model: Size of a token's vector, in and out.
        num_heads: H; must divide ``d_model``.
        num_kv_heads: H_kv; must divide ``num_heads``. None: as many as ``num_heads``.
        bias: Whether the four projections have biases.
        dropout: Probability with which an attention weight is dropped in training.
        rotary: Turns queries and keys to their positions, for self-attention only; layers may share one.

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, section 3.2.2; Shazeer, "Fast Transformer Decoding", 2019;
        Ainslie et al., "GQA", 2023.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        rotary: RotaryPositions | None = None,
    ) -> None:
        super().__init__()
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        require_divides("num_heads", num_heads, "d_model", d_model)
        require_divides("num_kv_heads", num_kv_heads, "num_heads", num_heads)
        require_probability(dropout=dropout)
        self.d_model, self.num_heads, self.num_kv_heads = d_model, num_heads, num_kv_heads
        self.d_head, self.dropout, self.rotary = d_model // num_heads, dropout, rotary
        if rotary is not None and rotary.d_head != self.d_head:
            raise ValueError(f"rotary is made for d_head={rotary.d_head}; d_model / num_heads is {self.d_head}")
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, num_kv_heads * self.d_head, bias=bias)
        self.v_proj = nn.Linear(d_model, num_kv_heads * self.d_head, bias=bias)
        self.o_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        query: Float[Tensor, "B L_q d_model"],
        key: Float[Tensor, "B L_k d_model"] | None = None,
        value: Float[Tensor, "B L_k d_model"] | None = None,
        *,
        mask: Bool[Tensor, "..."] | AttentionMask | None = None,
        cache: KVCache | None = None,
        score_bias: Float[Tensor, "..."] | None = None,
        projected: tuple[Float[Tensor, "B H_kv L_k d_head"], Float[Tensor, "B H_kv L_k d_head"]] | None = None,
        return_weights: bool = False,
    ) -> Float[Tensor, "B L_q d_model"] | tuple[Float[Tensor, "B L_q d_model"], Float[Tensor, "B H L_q L_all"]]:
        """Attend to ``key`` and ``value``, or without them to ``query`` itself (self-attention).

        Args:
            mask: Broadcasts to ``(B, H, L_q, L_all)``; True = may attend. ``L_all`` is ``L_k``, or with a cache the number
                of all positions so far. A query that may attend to nothing gets zeros (before o_proj).
            cache: Keys and values of earlier positions; those of this call are appended.
            score_bias: Finite numbers added to the scaled scores (ALiBi); broadcasts as the mask does.
            projected: What ``project_key_value`` made, instead of ``key`` and ``value``: the memory of an encoder is
                projected once, not at every step of decoding.
            return_weights: Hand back the weights as well. That takes the explicit path; without it PyTorch's fused kernel
                does the work, with the same result.

        Raises:
            ValueError: Arguments exclude one another (only one of ``key`` and ``value``; ``projected`` with ``key`` or
                ``cache``; keys of another sequence in a layer with rotary positions), or shapes do not fit.
        """
        q, k, v = self._heads(query, key, value, projected, cache)  # (B, H, L_q, d_head), (B, H_kv, L_all, d_head)
        if return_weights:
            k, v = (repeat_kv(x, self.num_heads // self.num_kv_heads) for x in (k, v))  # (B, H, L_all, d_head)
            # The product needs each head's rows side by side in memory. Copied here, the projections' own results can go;
            # copied inside the product, both would stay until the end.
            q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        attend = scaled_dot_product_attention if return_weights else fused_attention
        dropout_p = self.dropout if self.training else 0.0
        heads, weights = attend(q, k, v, mask, dropout_p=dropout_p, score_bias=score_bias)
        output = self.o_proj(merge_heads(heads))  # (B, L_q, d_model)
        return (output, weights) if return_weights else output

    def _heads(
        self, query: Tensor, key: Tensor | None, value: Tensor | None, projected: tuple | None, cache: KVCache | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values as the heads use them: at their positions, and with all that the cache holds."""
        self._require_one_source(key, value, cache, projected)
        require_shape("query", query, "B L d_model", d_model=self.d_model)
        q = split_heads(self.q_proj(query), self.num_heads)  # (B, H, L_q, d_head)
        if key is None and projected is None:
            k, v = self.project_key_value(query, query)  # (B, H_kv, L_k, d_head)
        else:
            k, v = self.project_key_value(key, value) if projected is None else projected  # (B, H_kv, L_k, d_head)
            self._require_heads(k, v, q.shape[0])
        moves = isinstance(cache, WindowCache)  # its keys move towards the front, and are turned after they have
        if self.rotary is not None and not moves:
            start = 0 if cache is None else cache.length
            q, k = self.rotary(q, start), self.rotary(k, start)
        if cache is not None:
            k, v = cache.update(k, v)  # (B, H_kv, L_all, d_head)
        if self.rotary is not None and moves:
            q, k = self.rotary(q, k.shape[2] - q.shape[2]), self.rotary(k)
        return q, k, v

    def project_key_value(
        self, key: Float[Tensor, "B L_k d_model"], value: Float[Tensor, "B L_k d_model"]
    ) -> tuple[Float[Tensor, "B H_kv L_k d_head"], Float[Tensor, "B H_kv L_k d_head"]]:
        """Keys and values as the heads use them, to be handed to later calls as ``projected``."""
        require_shape("key", key, "B L d_model", d_model=self.d_model)
        require_shape("value", value, "B L d_model", d_model=self.d_model)
        k = split_heads(self.k_proj(key), self.num_kv_heads)  # (B, H_kv, L_k, d_head)
        v = split_heads(self.v_proj(value), self.num_kv_heads)  # (B, H_kv, L_k, d_head)
        return k, v

    def _require_one_source(
        self, key: Tensor | None, value: Tensor | None, cache: KVCache | None, projected: tuple | None
    ) -> None:
        if (key is None) != (value is None):
            present, missing = ("key", "value") if value is None else ("value", "key")
            raise ValueError(
                f"{present} is given without {missing}; give both (cross-attention) or neither (self-attention)"
            )
        if projected is not None and (key is not None or cache is not None):
            raise ValueError("projected holds all keys and values: give it without key, value and cache")
        if self.rotary is not None and (key is not None or projected is not None):
            raise ValueError(
                "this layer turns queries and keys by their positions in one sequence (rotary), but key or projected hands "
                "it another: build the layer for cross-attention without rotary"
            )

    def _require_heads(self, k: Tensor, v: Tensor, batch: int) -> None:
        sizes, why = {"H_kv": self.num_kv_heads, "d_head": self.d_head}, ", as project_key_value gives it"
        require_shape("the projected key", k, "B H_kv L_k d_head", why=why, **sizes)
        require_shape("the projected value", v, "B H_kv L_k d_head", why=why, **sizes)
        require_same(k.shape[0], batch, "key has batch size {}, query has {}; they must agree")
        require_same(v.shape[0], batch, "value has batch size {}, query has {}; they must agree")
        require_same(k.shape[2], v.shape[2], "{} keys but {} values: each key needs exactly one value")
