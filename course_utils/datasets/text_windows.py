"""One long text as ids of characters, cut into windows for a language model.

Shape letters: ``B`` windows in a batch, ``L1`` characters in each, one more than are predicted.
"""

import torch
from jaxtyping import Bool, Int
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
    ids: Int[Tensor, " N"], length: int, batch_size: int, *, seed: int | None = None, stride: int | None = None
) -> list[Int[Tensor, "B L1"]]:
    """A long text cut into windows of ``length + 1`` characters; each begins with the character that the one before ends in.

    So every character but the first is predicted once in a pass, ``length`` of them in each window. What is left at the
    end, shorter than a window, is dropped. The last batch may have fewer than ``batch_size`` windows.

    Args:
        seed: None: in the text's order, from its first character. A number: in an order of its own, and cut at a place of
            its own, so that another epoch (another number) sees other windows.
        stride: From the beginning of a window to that of the next; None: ``length``. Less lets windows overlap.

    Raises:
        ValueError: The text has fewer than ``2 * length`` characters, or ``stride`` is not from 1 to ``length``.
    """
    if length < 1 or batch_size < 1:
        raise ValueError(f"length ({length}) and batch_size ({batch_size}) must be at least 1")
    stride = length if stride is None else stride
    if not 1 <= stride <= length:
        raise ValueError(f"stride ({stride}) must be from 1 to length ({length})")
    if len(ids) < 2 * length:
        raise ValueError(f"the text has {len(ids)} characters; expected at least two windows of length ({length})")
    rng = None if seed is None else torch.Generator().manual_seed(seed)
    first = 0 if rng is None else int(torch.randint(length, (1,), generator=rng))
    cut = ids[first:].unfold(0, length + 1, stride)  # (windows, L1)
    order = torch.arange(len(cut)) if rng is None else torch.randperm(len(cut), generator=rng)
    return list(cut[order].split(batch_size))


def seen_before(train: str, text: str, size: int) -> Bool[Tensor, " N"]:
    """Which characters of ``text`` stand in a stretch of ``size`` characters that ``train`` holds word for word.

    Example:
        >>> seen_before("to be or not", "not to be", 5).tolist()
        [False, False, False, False, True, True, True, True, True]
    """
    known = {train[i : i + size] for i in range(len(train) - size + 1)}
    seen = torch.zeros(len(text), dtype=torch.bool)
    for i in range(len(text) - size + 1):
        if text[i : i + size] in known:
            seen[i : i + size] = True
    return seen
