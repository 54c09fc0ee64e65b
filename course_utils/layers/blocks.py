"""Sublayers put together: the residual connection, the encoder layer, the decoder layer, the decoder-only layer.

Shape letters: ``B`` batch, ``H`` heads, ``L`` positions, ``L_t`` target and ``L_s`` source positions, ``L_all`` target
positions with those of a cache, ``d_model`` size of a token's vector. Masks: boolean, True = may attend.
"""

from collections.abc import Callable
from functools import partial

from jaxtyping import Bool, Float
from torch import Tensor, nn

from ..arguments import require_probability
from ..kv_cache import KVCache
from ..multi_head import MultiHeadAttention
from ..positions import RotaryPositions
from .feed_forward import FeedForward, SwiGLU
from .norms import LayerNorm, RMSNorm


class Residual(nn.Module):
    """The connection around a sublayer: ``x + dropout(sublayer(norm(x)))``, or post-norm ``norm(x + dropout(sublayer(x)))``.

    Args:
        d_model: Size of a token's vector.
        dropout: Probability with which a feature of the sublayer's output is dropped in training.
        pre_norm: Whether the norm comes before the sublayer (today's usual order) or after the sum (the paper's).
        norm: Makes the norm, called with ``d_model``: a class, or one with its other arguments filled in.

    Raises:
        ValueError: ``d_model`` is not positive, or ``dropout`` is outside ``[0, 1)``.

    Source:
        Vaswani et al., 2017, sections 3.1 and 5.4 (post-norm); Xiong et al., "On Layer Normalization in the Transformer
        Architecture", 2020, section 3 (pre-norm, and why).
    """

    def __init__(
        self, d_model: int, *, dropout: float = 0.0, pre_norm: bool = True, norm: Callable[[int], nn.Module] = LayerNorm
    ) -> None:
        super().__init__()
        require_probability(dropout=dropout)
        self.norm = norm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(
        self, x: Float[Tensor, "B L d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "B L d_model"]:
        """Run a sublayer and add what it gives to what it got.

        Args:
            x: Shape ``(B, L, d_model)``.
            sublayer: Any function that keeps the shape.

        Returns:
            Same shape.

        Raises:
            ValueError: The sublayer changes the shape.
        """
        change = sublayer(self.norm(x) if self.pre_norm else x)  # (B, L, d_model)
        if change.shape != x.shape:
            raise ValueError(
                f"sublayer turned shape {tuple(x.shape)} into {tuple(change.shape)}; it must keep the shape"
            )
        x = x + self.dropout(change)
        return x if self.pre_norm else self.norm(x)


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network, a residual connection around each.

    Dropout acts on the attention weights, inside the feed-forward network and after each sublayer, as in PyTorch's layers.

    Args:
        d_model: Size of a token's vector.
        num_heads: H; must divide ``d_model``.
        d_ff: Width of the feed-forward network.
        dropout: Probability, at all these places.
        pre_norm: As in ``Residual``.
        rotary: As in ``MultiHeadAttention``.

    Raises:
        ValueError: As its parts do.

    Source:
        Vaswani et al., 2017, section 3.1.
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
        self.self_residual = Residual(d_model, dropout=dropout, pre_norm=pre_norm)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.feed_forward_residual = Residual(d_model, dropout=dropout, pre_norm=pre_norm)

    def forward(
        self,
        x: Float[Tensor, "B L d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        score_bias: Float[Tensor, "..."] | None = None,
        return_weights: bool = False,
    ) -> Float[Tensor, "B L d_model"] | tuple[Float[Tensor, "B L d_model"], Float[Tensor, "B H L L"]]:
        """Let each position look at the others, then transform each.

        Args:
            x: Shape ``(B, L, d_model)``.
            mask: Broadcastable to ``(B, H, L, L)``.
            score_bias: Added to the scaled scores, broadcastable likewise.
            return_weights: Hand back the attention weights as well, ``(B, H, L, L)``.

        Returns:
            Same shape as ``x``; with ``return_weights`` a pair of it and the weights.
        """
        kept = [] if return_weights else None
        x = self.self_residual(x, lambda y: _attend(self.self_attention, kept, y, mask=mask, score_bias=score_bias))
        x = self.feed_forward_residual(x, self.feed_forward)
        return (x, *kept) if return_weights else x


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
        self.self_residual = Residual(d_model, dropout=dropout, pre_norm=pre_norm)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_residual = Residual(d_model, dropout=dropout, pre_norm=pre_norm)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.feed_forward_residual = Residual(d_model, dropout=dropout, pre_norm=pre_norm)

    def forward(
        self,
        x: Float[Tensor, "B L_t d_model"],
        memory: Float[Tensor, "B L_s d_model"] | None = None,
        *,
        target_mask: Bool[Tensor, "..."] | None,
        memory_mask: Bool[Tensor, "..."] | None,
        cache: KVCache | None = None,
        memory_kv: tuple[Float[Tensor, "B H L_s d_head"], Float[Tensor, "B H L_s d_head"]] | None = None,
        return_weights: bool = False,
    ) -> (
        Float[Tensor, "B L_t d_model"]
        | tuple[Float[Tensor, "B L_t d_model"], Float[Tensor, "B H L_t L_all"], Float[Tensor, "B H L_t L_s"]]
    ):
        """Let each target position look at the earlier ones, then at the source, then transform each.

        Args:
            x: Shape ``(B, L_t, d_model)``.
            memory: The encoder's output, shape ``(B, L_s, d_model)``.
            target_mask: For self-attention, broadcastable to ``(B, H, L_t, L_all)``: causal, and no padding. It has no
                default, because a forgotten one shows the target its own future.
            memory_mask: For cross-attention, broadcastable to ``(B, H, L_t, L_s)``: no padding of the *source*.
            cache: Keys and values of earlier target positions (then ``L_all`` counts them too).
            memory_kv: ``cross_attention.project_key_value(memory, memory)``, made once, instead of ``memory``.
            return_weights: Hand back the weights of both attentions as well.

        Returns:
            Same shape as ``x``; with ``return_weights`` ``(output, self weights, cross weights)``.

        Raises:
            ValueError: Not exactly one of ``memory`` and ``memory_kv`` is given, or as ``MultiHeadAttention`` does.
        """
        if (memory is None) == (memory_kv is None):
            raise ValueError(
                f"{'neither' if memory is None else 'both'} of memory and memory_kv given; give exactly one"
            )
        kept = [] if return_weights else None
        source = {"key": memory, "value": memory, "projected": memory_kv, "mask": memory_mask}
        x = self.self_residual(x, lambda y: _attend(self.self_attention, kept, y, mask=target_mask, cache=cache))
        x = self.cross_residual(x, lambda y: _attend(self.cross_attention, kept, y, **source))
        x = self.feed_forward_residual(x, self.feed_forward)
        return (x, *kept) if return_weights else x


class DecoderOnlyLayer(nn.Module):
    """The layer of today's language models: RMSNorm before each sublayer, grouped-query attention, SwiGLU, no biases.

    Args:
        d_model: Size of a token's vector.
        num_heads: H; must divide ``d_model``.
        d_ff: Width of the feed-forward network.
        num_kv_heads: As in ``MultiHeadAttention``.
        dropout: On the attention weights and after each sublayer, in training.
        rotary: As in ``MultiHeadAttention``.
        norm_eps: Of the norms.

    Raises:
        ValueError: As its parts do.

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
        norm = partial(RMSNorm, eps=norm_eps)
        self.self_residual = Residual(d_model, dropout=dropout, norm=norm)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.feed_forward_residual = Residual(d_model, dropout=dropout, norm=norm)

    def forward(
        self,
        x: Float[Tensor, "B L d_model"],
        mask: Bool[Tensor, "..."] | None,
        *,
        cache: KVCache | None = None,
        return_weights: bool = False,
    ) -> Float[Tensor, "B L d_model"] | tuple[Float[Tensor, "B L d_model"], Float[Tensor, "B H L L_all"]]:
        """Let each position look at itself and the earlier ones, then transform each.

        Args:
            x: Shape ``(B, L, d_model)``.
            mask: Causal, broadcastable to ``(B, H, L, L_all)``; None for one new position, which may see all there are.
            cache: Keys and values of earlier positions (then ``L_all`` counts them too).
            return_weights: Hand back the attention weights as well.

        Returns:
            Same shape as ``x``; with ``return_weights`` a pair of it and the weights.
        """
        kept = [] if return_weights else None
        x = self.self_residual(x, lambda y: _attend(self.self_attention, kept, y, mask=mask, cache=cache))
        x = self.feed_forward_residual(x, self.feed_forward)
        return (x, *kept) if return_weights else x


def _attend(attention: MultiHeadAttention, kept: list[Tensor] | None, query: Tensor, **options: object) -> Tensor:
    """The output alone; the weights go into ``kept`` where there is one."""
    if kept is None:
        return attention(query, **options)
    output, weights = attention(query, **options, return_weights=True)
    kept.append(weights)
    return output
