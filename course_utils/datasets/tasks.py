"""A synthetic task: sequences to be copied. Shape letters: ``B`` batch, ``L`` length."""

import torch
from jaxtyping import Int
from torch import Tensor

from ..tokenizers import END_ID, START_ID

FIRST_SYMBOL = END_ID + 1


def copy_task(
    num: int, length: int, vocab_size: int, generator: torch.Generator
) -> tuple[Int[Tensor, "B L"], Int[Tensor, "B L+2"]]:
    """Source and target pairs in which the target repeats the source, between start and end symbol.

    The symbols are drawn independently, each as likely as the other; all sequences are of full length, none padded.
    ``vocab_size`` counts the special ids 0 (padding), 1 (start) and 2 (end), which do not occur in a source.
    """
    if num < 1 or length < 1:
        raise ValueError(f"num ({num}) and length ({length}) must be at least 1")
    if vocab_size <= FIRST_SYMBOL:
        raise ValueError(
            f"vocab_size ({vocab_size}) must be at least {FIRST_SYMBOL + 1}: ids 0, 1 and 2 are padding, start and end"
        )
    source = torch.randint(FIRST_SYMBOL, vocab_size, (num, length), generator=generator)  # (B, L)
    column = torch.ones_like(source[:, :1])  # (B, 1)
    return source, torch.cat((START_ID * column, source, END_ID * column), dim=1)  # (B, L), (B, L + 2)
