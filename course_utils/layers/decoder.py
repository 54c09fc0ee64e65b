"""The decoder layer.

Shape letters: ``B`` batch, ``H`` heads, ``L_t`` target and ``L_s`` source positions, ``L_all`` target positions with those
of a cache, ``d_model`` size of a token's vector.
"""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from ..kv_cache import KVCache
from ..masks import AttentionMask
from ..multi_head import MultiHeadAttention
from ..positions import RotaryPositions
from .feed_forward import FeedForward
from .norms import LayerNorm


class DecoderLayer(nn.Module):
    """Self-attention over the target, cross-attention to the encoder's memory, then a feed-forward network.

    Arguments, dropout, errors and source: those of ``EncoderLayer``. Rotary positions act in self-attention only.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.1,
        pre_norm: bool = True,
        rotary: RotaryPositions | None = None,
    ) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout, rotary=rotary)
        self.attention_norm = LayerNorm(d_model)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention_norm = LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.feed_forward_norm = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(
        self,
        x: Float[Tensor, "B L_t d_model"],
        memory: Float[Tensor, "B L_s d_model"] | None = None,
        *,
        target_mask: Bool[Tensor, "..."] | AttentionMask | None,
        memory_mask: Bool[Tensor, "..."] | AttentionMask | None,
        cache: KVCache | None = None,
        memory_kv: tuple[Float[Tensor, "B H L_s d_head"], Float[Tensor, "B H L_s d_head"]] | None = None,
    ) -> Float[Tensor, "B L_t d_model"]:
        """Let each target position look at the earlier ones, then at the source, then transform each.

        Args:
            x: The target.
            memory: The encoder's output.
            target_mask: For self-attention: causal, and no padding. It has no default, because a forgotten one shows the
                target its own future.
            memory_mask: For cross-attention: no padding of the *source*.
            cache: Keys and values of earlier target positions.
            memory_kv: ``cross_attention.project_key_value(memory, memory)``, made once, instead of ``memory``.

        Raises:
            ValueError: Not exactly one of ``memory`` and ``memory_kv`` is given, or as ``MultiHeadAttention`` does.
        """
        if (memory is None) == (memory_kv is None):
            raise ValueError(
                f"{'neither' if memory is None else 'both'} of memory and memory_kv given; give exactly one"
            )
        source = {"key": memory, "value": memory, "projected": memory_kv, "mask": memory_mask}
        if self.pre_norm:
            x = x + self.dropout(self.self_attention(self.attention_norm(x), mask=target_mask, cache=cache))
            x = x + self.dropout(self.cross_attention(self.cross_attention_norm(x), **source))
            return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        x = self.attention_norm(x + self.dropout(self.self_attention(x, mask=target_mask, cache=cache)))
        x = self.cross_attention_norm(x + self.dropout(self.cross_attention(x, **source)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
