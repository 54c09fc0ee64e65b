"""One long text as ids of characters, cut into windows for a language model.

Shape letters: ``B`` windows in a batch, ``L1`` characters in each, one more than are predicted.
"""

import torch
from jaxtyping import Int
from torch import Tensor

from ..tokenizers import Tokenizer
from .documentation import CHARACTERS, plain_text

TEXT = Tokenizer(CHARACTERS)


def encode_text(text: str) -> Int[Tensor, " L"]:
    """Ids of a text's characters, typographic ones made plain."""
    if not text:
        raise ValueError("text is empty; expected at least one character")
    return torch.tensor(TEXT.encode(plain_text(text)))


def decode_text(ids: Int[Tensor, " L"]) -> str:
    """The text that ids stand for."""
    return "".join(TEXT.decode(ids))


def windows(
    ids: Int[Tensor, " N"], length: int, batch_size: int, *, seed: int | None = None
) -> list[Int[Tensor, "B L1"]]:
    """A long text cut into windows of ``length + 1`` characters; each begins with the character that the one before ends in.

    So every character but the first is predicted once in a pass, ``length`` of them in each window. What is left at the
    end, shorter than a window, is dropped. The last batch may have fewer than ``batch_size`` windows.

    Args:
        seed: None: in the text's order, from its first character. A number: in an order of its own, and cut at a place of
            its own, so that another epoch (another number) sees other windows.

    Raises:
        ValueError: The text has fewer than ``2 * length`` characters.
    """
    if length < 1 or batch_size < 1:
        raise ValueError(f"length ({length}) and batch_size ({batch_size}) must be at least 1")
    if len(ids) < 2 * length:
        raise ValueError(f"the text has {len(ids)} characters; expected at least two windows of length ({length})")
    rng = None if seed is None else torch.Generator().manual_seed(seed)
    first = 0 if rng is None else int(torch.randint(length, (1,), generator=rng))
    cut = ids[first:].unfold(0, length + 1, length)  # (windows, L1)
    order = torch.arange(len(cut)) if rng is None else torch.randperm(len(cut), generator=rng)
    return list(cut[order].split(batch_size))
