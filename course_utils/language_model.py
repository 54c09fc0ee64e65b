"""Training and judging a language model on one long text, character by character.

Shape letters: ``B`` windows in a batch, ``L1`` characters in each, one more than are predicted.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from .datasets.documentation import CHARACTERS, plain_text
from .metrics import bits_per_symbol, perplexity
from .tokenizers import Tokenizer

TEXT = Tokenizer(CHARACTERS)


def encode_text(text: str) -> Int[Tensor, " L"]:
    """Ids of a text's characters, typographic ones made plain.

    Raises:
        ValueError: The text is empty.
    """
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

    So every character but the first is predicted once in a pass. What is left at the end, shorter than a window, is dropped.

    Args:
        ids: The text.
        length: Characters predicted in a window.
        batch_size: Windows in a batch; the last batch may be smaller.
        seed: None: in the text's order, from its first character. A number: in an order of its own, and cut at a place of
            its own, so that another epoch (another number) sees other windows.

    Raises:
        ValueError: A size is not positive, or the text is too short for one window.
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


def next_symbol_loss(model: nn.Module, window: Int[Tensor, "B L1"]) -> Float[Tensor, ""]:
    """Mean cross-entropy, in nats, of each character given those before it in its window.

    Args:
        model: ``model(tokens)`` gives the logits of the symbol after each.
        window: Ids, shape ``(B, L1)``.
    """
    logits = model(window[:, :-1])  # (B, L, V)
    return F.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())


@torch.no_grad()
def text_scores(
    model: nn.Module, ids: Int[Tensor, " N"], *, length: int = 256, batch_size: int = 32
) -> dict[str, float]:
    """How well a model predicts a text: each character from those before it in its window.

    Args:
        model: As for ``next_symbol_loss``; put into evaluation mode.
        ids: The text.
        length: Characters of a window. The first characters of a window have little before them: longer windows, better
            scores.
        batch_size: Windows at a time.

    Returns:
        ``{"loss": nats per character, "perplexity": ..., "bits": bits per character}``.

    Raises:
        ValueError: As ``windows``.
    """
    model.eval()
    total, number = 0.0, 0
    for window in windows(ids, length, batch_size):
        predicted = window[:, 1:].numel()
        total += next_symbol_loss(model, window).item() * predicted
        number += predicted
    return {
        "loss": total / number,
        "perplexity": perplexity(total, number),
        "bits": bits_per_symbol(total, number),
    }
