"""Scores of heads: how much of its attention a head gives to the keys that a hypothesis names.

A hypothesis is a mask: True where the query of a row would look if the head did what it says. The score is the weight on
those keys, averaged over the queries that have any. Its landmark is what a head scores that looks at all visible keys alike.
Shape letters: ``B`` batch, ``H`` heads, ``L`` positions. All masks are causal.

Source:
    Olsson et al., "In-context Learning and Induction Heads", 2022 (previous-token heads, induction heads by prefix matching);
    Wang et al., "Interpretability in the Wild", 2022, section 3 (duplicate-token heads).
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..arguments import require_same, require_shape


def current_token_mask(tokens: Int[Tensor, "B L"]) -> Bool[Tensor, "B L L"]:
    """Each position looks at itself."""
    return _at_distance(tokens, 0)


def previous_token_mask(tokens: Int[Tensor, "B L"]) -> Bool[Tensor, "B L L"]:
    """Each position looks at the one before it; the first has none."""
    return _at_distance(tokens, 1)


def first_token_mask(tokens: Int[Tensor, "B L"]) -> Bool[Tensor, "B L L"]:
    """Each position but the first looks at the first one (an attention sink)."""
    mask = torch.zeros_like(_at_distance(tokens, 0))
    mask[:, 1:, 0] = True
    return mask


def duplicate_token_mask(tokens: Int[Tensor, "B L"]) -> Bool[Tensor, "B L L"]:
    """Each position looks at the earlier ones that hold the same token.

    Example:
        >>> duplicate_token_mask(torch.tensor([[7, 4, 7]]))[0].int().tolist()
        [[0, 0, 0], [0, 0, 0], [1, 0, 0]]
    """
    require_shape("tokens", tokens, "B L")
    return (tokens[:, :, None] == tokens[:, None, :]).tril(-1)  # (B, L, L)


def induction_mask(tokens: Int[Tensor, "B L"]) -> Bool[Tensor, "B L L"]:
    """Each position looks at what came right after the earlier ones that hold the same token.

    Example:
        >>> induction_mask(torch.tensor([[7, 4, 7]]))[0].int().tolist()
        [[0, 0, 0], [0, 0, 0], [0, 1, 0]]
    """
    after = torch.zeros_like(duplicates := duplicate_token_mask(tokens))
    after[:, :, 1:] = duplicates[:, :, :-1]  # one key further on
    return after  # the key after an earlier position is at most the query itself


def mean_weight(weights: Float[Tensor, "B H L L"], mask: Bool[Tensor, "..."]) -> Float[Tensor, " H"]:
    """The score of each head: its weight on the keys of the mask, averaged over the queries whose row has one.

    Args:
        weights: Of ``record_attention``.
        mask: A hypothesis ``(B, L, L)``, one of the masks of this module or your own.

    Raises:
        ValueError: The shapes do not fit, or no query has a key in the mask.

    Example:
        >>> weights = torch.tensor([[[[1.0, 0, 0], [0.75, 0.25, 0], [0.25, 0.5, 0.25]]]])
        >>> mean_weight(weights, previous_token_mask(torch.tensor([[7, 4, 7]])))
        tensor([0.6250])
    """
    require_shape("weights", weights, "B H L L")
    require_same(mask.shape, (weights.shape[0], *weights.shape[2:]), "mask has shape {}; expected (B, L, L) = {}")
    rows = mask.any(dim=-1)  # (B, L)
    if not rows.any():
        raise ValueError("mask has no key for any query: nothing to average")
    on_target = (weights * mask[:, None]).sum(dim=-1)  # (B, H, L)
    return on_target.transpose(0, 1)[:, rows].mean(dim=-1)  # (H, B, L) -> (H,)


def uniform_weight(mask: Bool[Tensor, "B L L"]) -> float:
    """The landmark of a mask: the score of a causal head that looks at all the keys that it may see alike."""
    require_shape("mask", mask, "B L L")
    length = mask.shape[-1]
    uniform = torch.ones(length, length).tril() / torch.arange(1, length + 1)[:, None]  # (L, L)
    return mean_weight(uniform.expand(mask.shape[0], 1, -1, -1), mask).item()


def _at_distance(tokens: Tensor, distance: int) -> Tensor:
    require_shape("tokens", tokens, "B L")
    length = tokens.shape[1]
    diagonal = torch.ones(length, length, dtype=torch.bool).tril(-distance).triu(-distance)  # (L, L)
    return diagonal.repeat(tokens.shape[0], 1, 1)  # (B, L, L)
