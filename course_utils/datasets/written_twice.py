"""Strings of letters that are written twice, and what a letter of the second half costs a model.

Shape letters: ``n`` strings, ``L`` tokens.

In the second half every letter follows the one that it followed in the first, so whoever finds the earlier place can say it.

Source:
    Olsson et al., "In-context Learning and Induction Heads", 2022 (repeated random tokens).
"""

import math
from string import ascii_lowercase

import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor, nn

LETTERS = ascii_lowercase


def twice(n: int, length: int, rng: torch.Generator) -> Int[Tensor, "n L"]:
    """``n`` strings of different random letters, each written twice.

    Raises:
        ValueError: ``length`` is not 1 to 26.
    """
    if not 1 <= length <= len(LETTERS):
        raise ValueError(f"length ({length}) must be 1 to {len(LETTERS)}: no letter comes twice in a string")
    once = torch.rand(n, len(LETTERS), generator=rng).argsort(dim=1)[:, :length]  # (n, length)
    return torch.cat((once, once), dim=1)


def spelled(ids: Int[Tensor, " L"]) -> str:
    """``[7, 8]`` -> ``"hi"``."""
    return "".join(LETTERS[i] for i in ids.tolist())


def second_half_loss(model: nn.Module, ids: Int[Tensor, "n L"]) -> Tensor:
    """Mean loss, in nats, for the letters of the second half but its first, which cannot be known."""
    half = ids.shape[1] // 2
    logits = model(ids)[:, half:-1]  # (n, half - 1, V)
    return F.cross_entropy(logits.flatten(0, 1), ids[:, half + 1 :].flatten())


@torch.no_grad()
def second_half_bits(model: nn.Module, ids: Int[Tensor, "n L"]) -> float:
    """The same in bits."""
    return second_half_loss(model, ids).item() / math.log(2)
