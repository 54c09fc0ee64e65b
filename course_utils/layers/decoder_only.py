"""The layer of today's language models. Shape letters: ``B`` batch, ``L`` positions, ``d_model`` size of a token's vector."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from ..kv_cache import KVCache
from ..masks import AttentionMask
from ..multi_head import MultiHeadAttention
from ..positions import RotaryPositions
from .feed_forward import SwiGLU
from .norms import RMSNorm


class DecoderOnlyLayer(nn.Module):
    """RMSNorm before each sublayer, grouped-query attention, SwiGLU, no biases.

    Args:
        d_model: Size of a token's vector.
        num_heads: H; must divide ``d_model``.
        d_ff: Width of the feed-forward network.
        num_kv_heads: As in ``MultiHeadAttention``.
        dropout: On the attention weights and after each sublayer, in training.
        rotary: As in ``MultiHeadAttention``.
        norm_eps: Of the norms.

    Source:
        Touvron et al., "LLaMA: Open and Efficient Foundation Language Models", 2023, section 2.2; grouped queries as in
        Llama 2, 2023, section 2.2.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        num_kv_heads: int | None = None,
        dropout: float = 0.0,
        rotary: RotaryPositions | None = None,
        norm_eps: float = 1e-6,
    ) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(
            d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, dropout=dropout, rotary=rotary
        )
        self.attention_norm = RMSNorm(d_model, eps=norm_eps)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.feed_forward_norm = RMSNorm(d_model, eps=norm_eps)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "B L d_model"],
        mask: Bool[Tensor, "..."] | AttentionMask | None,
        *,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "B L d_model"]:
        """Let each position look at itself and the earlier ones, then transform each.

        Args:
            x: The stream.
            mask: Causal; None for one new position, which may see all there are. It has no default, because a forgotten one
                shows each position its own future.
            cache: Keys and values of earlier positions.
        """
        x = x + self.dropout(self.self_attention(self.attention_norm(x), mask=mask, cache=cache))
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
