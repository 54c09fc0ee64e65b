"""Position-wise feed-forward networks: each position is transformed by itself, all by the same weights.

Shape letters: ``*B`` leading (batch, position) dimensions, ``d_model`` size of a vector, ``d_ff`` width in between.
"""

from collections.abc import Callable

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from ..arguments import require_probability, require_shape, require_sizes


class FeedForward(nn.Module):
    """The position-wise network of the paper: up to ``d_ff``, ReLU, down again; each position by itself.

    Args:
        d_model: Size of a token's vector, in and out.
        d_ff: Width in between.
        dropout: Probability with which a feature in between is dropped in training.
        activation: What is applied in between, ReLU in the paper; GPT-2 has GELU.

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, section 3.3, equation 2.
    """

    def __init__(
        self, d_model: int, d_ff: int, *, dropout: float = 0.0, activation: Callable[[Tensor], Tensor] = F.relu
    ) -> None:
        super().__init__()
        require_sizes(d_model=d_model, d_ff=d_ff)
        require_probability(dropout=dropout)
        self.activation = activation
        self.up_proj = nn.Linear(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)
        self.down_proj = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "*B d_model"]) -> Float[Tensor, "*B d_model"]:
        """Transform each position."""
        require_shape("x", x, "... d_model", d_model=self.up_proj.in_features)
        return self.down_proj(self.dropout(self.activation(self.up_proj(x))))  # (*B, d_ff) in between


class SwiGLU(nn.Module):
    """The gated feed-forward network of Llama and its kin: ``down(silu(gate(x)) * up(x))``.

    It has three matrices instead of two: with 2/3 of a ReLU network's ``d_ff`` it has as many parameters.

    Source:
        Shazeer, "GLU Variants Improve Transformer", 2020, section 2, equation 6.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        require_sizes(d_model=d_model, d_ff=d_ff)
        self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Float[Tensor, "*B d_model"]) -> Float[Tensor, "*B d_model"]:
        """Transform each position."""
        require_shape("x", x, "... d_model", d_model=self.up_proj.in_features)
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))  # (*B, d_ff) in between
