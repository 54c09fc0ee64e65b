"""Synthetic tasks: sequences to be copied, or reversed. Shape letters: ``B`` batch, ``L`` length."""

import torch
from jaxtyping import Int
from torch import Tensor

from ..tokenizers import END_ID, START_ID

FIRST_SYMBOL = END_ID + 1


def random_sequences(
    num: int, length: int, vocab_size: int, generator: torch.Generator
) -> Int[Tensor, "{num} {length}"]:
    """Sequences of symbols drawn independently, each as likely as the other.

    ``vocab_size`` counts the special ids 0 (padding), 1 (start) and 2 (end), which do not occur.
    """
    if num < 1 or length < 1:
        raise ValueError(f"num ({num}) and length ({length}) must be at least 1")
    if vocab_size <= FIRST_SYMBOL:
        raise ValueError(
            f"vocab_size ({vocab_size}) must be at least {FIRST_SYMBOL + 1}: ids 0, 1 and 2 are padding, start and end"
        )
    return torch.randint(FIRST_SYMBOL, vocab_size, (num, length), generator=generator)


def copy_task(
    num: int, length: int, vocab_size: int, generator: torch.Generator
) -> tuple[Int[Tensor, "B L"], Int[Tensor, "B L+2"]]:
    """Source and target pairs in which the target repeats the source, between start and end symbol.

    The arguments are those of ``random_sequences``.
    """
    source = random_sequences(num, length, vocab_size, generator)  # (B, L)
    return source, between_marks(source)


def reverse_task(
    num: int, length: int, vocab_size: int, generator: torch.Generator
) -> tuple[Int[Tensor, "B L"], Int[Tensor, "B L+2"]]:
    """Source and target pairs in which the target is the source backwards. All else is as in ``copy_task``."""
    source = random_sequences(num, length, vocab_size, generator)  # (B, L)
    return source, between_marks(source.flip(1))


def between_marks(sequences: Int[Tensor, "B L"]) -> Int[Tensor, "B L+2"]:
    """Put the start symbol before and the end symbol after each sequence; all are of full length, none padded."""
    column = torch.ones_like(sequences[:, :1])  # (B, 1)
    return torch.cat((START_ID * column, sequences, END_ID * column), dim=1)  # (B, L + 2)
