"""Multi-head attention with its heads divided among ranks: each computes some, and one all-reduce adds the results.

The output projection adds up over heads, so each rank multiplies its heads with its own part of W_o, and the sum over ranks
is the output. Shape letters: ``B`` batch, ``H`` heads, ``H_kv`` key/value heads, ``L`` tokens, ``P`` ranks.

Source:
    Shoeybi et al., "Megatron-LM", 2019, section 3: the functions f and g of figure 3.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from ..arguments import require_divides, require_shape
from ..attention import fused_attention
from ..masks import AttentionMask
from ..multi_head import MultiHeadAttention, merge_heads, split_heads
from .communication import Communicator


class _Copy(torch.autograd.Function):
    """f: forward nothing; on the way back the sum over ranks, since each used ``x`` for heads of its own."""

    @staticmethod
    def forward(ctx, x: Tensor, communicator: Communicator) -> Tensor:
        ctx.communicator = communicator
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.communicator.all_reduce(gradient), None


class _Sum(torch.autograd.Function):
    """g: forward the sum over ranks; on the way back nothing, since a sum hands its gradient to every term."""

    @staticmethod
    def forward(ctx, x: Tensor, communicator: Communicator) -> Tensor:
        return communicator.all_reduce(x)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


def copy_to_ranks(x: Float[Tensor, "*S"], communicator: Communicator) -> Float[Tensor, "*S"]:
    """Megatron-LM's f: ``x`` itself, which all ranks have; its gradient is summed over them."""
    return _Copy.apply(x, communicator)


def sum_over_ranks(x: Float[Tensor, "*S"], communicator: Communicator) -> Float[Tensor, "*S"]:
    """Megatron-LM's g: the sum over all ranks; its gradient, which all ranks have, goes to each term as it is."""
    return _Sum.apply(x, communicator)


class HeadParallelAttention(nn.Module):
    """The heads of one rank, cut out of a whole multi-head attention; all ranks together compute what that one does.

    Its parameters are copies: of W_q, W_k and W_v the rows (of PyTorch's ``weight``) of its heads, of W_o the columns. The
    bias of W_o, which is added once, is the same on all ranks, and so is its gradient.

    Args:
        attention: The whole layer, the same on every rank. It must have no dropout, whose random numbers would differ from
            those of one process.
        rank: Which part.
        P: How many parts; must divide H and H_kv.
    """

    def __init__(self, attention: MultiHeadAttention, rank: int, P: int) -> None:
        super().__init__()
        require_divides("P", P, "H", attention.num_heads)
        if attention.num_kv_heads % P:
            raise ValueError(
                f"P ({P}) must divide H_kv ({attention.num_kv_heads}): each rank needs key/value heads of its own; "
                "use fewer ranks, or give each key/value head several copies"
            )
        if not 0 <= rank < P:
            raise ValueError(f"rank ({rank}) must be from 0 to {P - 1}")
        if attention.dropout:
            raise ValueError(
                f"dropout ({attention.dropout}) must be 0: ranks draw other random numbers than one process"
            )
        self.num_heads, self.num_kv_heads = attention.num_heads // P, attention.num_kv_heads // P
        self.rotary = attention.rotary
        layers = {"q_proj": attention.q_proj, "k_proj": attention.k_proj, "v_proj": attention.v_proj}
        for name, layer in layers.items():
            bias = None if layer.bias is None else layer.bias.chunk(P)[rank]
            setattr(self, name, _linear(layer.weight.chunk(P, dim=0)[rank], bias))
        self.o_proj = _linear(attention.o_proj.weight.chunk(P, dim=1)[rank], None)
        o_bias = attention.o_proj.bias
        self.o_bias = None if o_bias is None else nn.Parameter(o_bias.detach().clone())

    def forward(
        self,
        x: Float[Tensor, "B L d_model"],
        communicator: Communicator,
        *,
        mask: Bool[Tensor, "..."] | AttentionMask | None = None,
    ) -> Float[Tensor, "B L d_model"]:
        """Self-attention, called by all ranks with the same ``x`` and ``mask``: one all-reduce here, one on the way back."""
        output = sum_over_ranks(self.part(copy_to_ranks(x, communicator), mask=mask), communicator)
        return output if self.o_bias is None else output + self.o_bias

    def part(
        self, x: Float[Tensor, "B L d_model"], *, mask: Bool[Tensor, "..."] | AttentionMask | None = None
    ) -> Float[Tensor, "B L d_model"]:
        """What the heads of this rank add to the output; nothing is sent."""
        require_shape("x", x, "B L d_model", d_model=self.q_proj.in_features)
        q = split_heads(self.q_proj(x), self.num_heads)  # (B, H / P, L, d_head)
        k = split_heads(self.k_proj(x), self.num_kv_heads)  # (B, H_kv / P, L, d_head)
        v = split_heads(self.v_proj(x), self.num_kv_heads)  # (B, H_kv / P, L, d_head)
        if self.rotary is not None:
            q, k = self.rotary(q), self.rotary(k)
        heads, _ = fused_attention(q, k, v, mask)  # (B, H / P, L, d_head)
        return self.o_proj(merge_heads(heads))  # (B, L, d_model)


def _linear(weight: Tensor, bias: Tensor | None) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, dtype=weight.dtype, device="meta")
    layer.weight = nn.Parameter(weight.detach().clone())
    if bias is not None:
        layer.bias = nn.Parameter(bias.detach().clone())
    return layer
