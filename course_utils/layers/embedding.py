"""Token ids to vectors. Shape letters: ``B`` batch, ``L`` positions, ``d_model`` size of a token's vector."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..arguments import require_probability, require_sizes
from ..positions import LearnedPositions, SinusoidalPositions


class InputEmbedding(nn.Module):
    """Token ids to vectors: embedding times ``sqrt(d_model)``, plus position, then dropout (in training).

    The embeddings start with standard deviation ``d_model ** -0.5``: multiplied, with about 1, the size of the sines and
    cosines that are added. Without the factor the positions would drown the tokens. ``positions`` None: nothing is added
    (rotary positions act elsewhere, in attention).

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, sections 3.4, 3.5 and 5.4.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        positions: SinusoidalPositions | LearnedPositions | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_sizes(vocab_size=vocab_size, d_model=d_model)
        require_probability(dropout=dropout)
        self.tokens = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.tokens.weight, std=d_model**-0.5)
        self.positions = positions
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Int[Tensor, "B L"], start: int = 0) -> Float[Tensor, "B L d_model"]:
        """Embed tokens, the first of which stands at position ``start``."""
        x = embedded(self.tokens, tokens) * math.sqrt(self.tokens.embedding_dim)  # (B, L, d_model)
        return self.dropout(x if self.positions is None else self.positions(x, start))


def embedded(table: nn.Embedding, tokens: Int[Tensor, "B L"]) -> Float[Tensor, "B L d_model"]:
    """The row of ``table`` for each id; an id outside the vocabulary raises ``ValueError``.

    PyTorch looks for such ids anyway; asking first would cost a pass over all of them.
    """
    if tokens.dim() != 2 or tokens.shape[1] == 0:
        raise ValueError(f"tokens has shape {tuple(tokens.shape)}; expected (B, L), L at least 1")
    if tokens.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"tokens has dtype {tokens.dtype}; expected token ids, torch.int64")
    try:
        return table(tokens)  # (B, L, d_model)
    except IndexError:
        raise ValueError(
            f"tokens holds ids from {tokens.min()} to {tokens.max()}; this embedding knows 0 to {table.num_embeddings - 1}"
        ) from None
