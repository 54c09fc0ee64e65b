"""The layer of today's language models. Shape letters: ``B`` batch, ``L`` positions, ``d_model`` size of a token's vector."""

from functools import partial

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from ..arguments import require_one_of
from ..kv_cache import KVCache
from ..masks import AttentionMask
from ..multi_head import MultiHeadAttention
from ..positions import RotaryPositions
from .feed_forward import FeedForward, SwiGLU
from .norms import LayerNorm, RMSNorm

NORMS = {"rms": RMSNorm, "layer": LayerNorm}
FEED_FORWARDS = {
    "swiglu": SwiGLU,
    "gelu": partial(FeedForward, activation=partial(F.gelu, approximate="tanh")),
    "relu": FeedForward,
}


class DecoderOnlyLayer(nn.Module):
    """A norm before each sublayer, attention to this position and the earlier ones, a feed-forward network.

    The defaults are Llama's: RMSNorm, SwiGLU, no biases.

    Args:
        d_model: Size of a token's vector.
        num_heads: H; must divide ``d_model``.
        d_ff: Width of the feed-forward network.
        num_kv_heads: As in ``MultiHeadAttention``.
        dropout: On the attention weights and after each sublayer, in training.
        rotary: As in ``MultiHeadAttention``.
        norm: One of ``NORMS``.
        norm_eps: Of the norms.
        feed_forward: One of ``FEED_FORWARDS``. All but ``"swiglu"`` have biases.
        bias: Whether the projections of attention have biases.

    Source:
        Touvron et al., "LLaMA: Open and Efficient Foundation Language Models", 2023, section 2.2; grouped queries as in
        Llama 2, 2023, section 2.2; LayerNorm, GELU and biases as in Radford et al., "Language Models are Unsupervised
        Multitask Learners" (GPT-2), 2019, section 2.3.
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
        norm: str = "rms",
        norm_eps: float = 1e-6,
        feed_forward: str = "swiglu",
        bias: bool = False,
    ) -> None:
        super().__init__()
        require_one_of("norm", norm, NORMS)
        require_one_of("feed_forward", feed_forward, FEED_FORWARDS)
        self.self_attention = MultiHeadAttention(
            d_model, num_heads, num_kv_heads=num_kv_heads, bias=bias, dropout=dropout, rotary=rotary
        )
        self.attention_norm = NORMS[norm](d_model, eps=norm_eps)
        self.feed_forward = FEED_FORWARDS[feed_forward](d_model, d_ff)
        self.feed_forward_norm = NORMS[norm](d_model, eps=norm_eps)
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
