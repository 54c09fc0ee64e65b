"""The encoder layer. Shape letters: ``B`` batch, ``H`` heads, ``L`` positions, ``d_model`` size of a token's vector."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from ..masks import AttentionMask
from ..multi_head import MultiHeadAttention
from ..positions import RotaryPositions
from .feed_forward import FeedForward
from .norms import LayerNorm


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network, a residual connection around each.

    Dropout acts on the attention weights, inside the feed-forward network and after each sublayer, as in PyTorch's layers.

    Args:
        d_model: Size of a token's vector.
        num_heads: H; must divide ``d_model``.
        d_ff: Width of the feed-forward network.
        dropout: Probability, at all these places.
        pre_norm: Whether each norm comes before its sublayer (today's usual order) or after the sum (the paper's).
        rotary: As in ``MultiHeadAttention``.

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, section 3.1; pre-norm: Xiong et al., "On Layer Normalization in
        the Transformer Architecture", 2020, section 3.
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
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.feed_forward_norm = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(
        self,
        x: Float[Tensor, "B L d_model"],
        mask: Bool[Tensor, "..."] | AttentionMask | None = None,
        *,
        score_bias: Float[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "B L d_model"]:
        """Let each position look at the others (``mask`` and ``score_bias`` as in attention), then transform each."""
        if self.pre_norm:
            x = x + self.dropout(self.self_attention(self.attention_norm(x), mask=mask, score_bias=score_bias))
            return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        x = self.attention_norm(x + self.dropout(self.self_attention(x, mask=mask, score_bias=score_bias)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
