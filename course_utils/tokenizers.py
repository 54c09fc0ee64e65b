"""Symbols (characters, words, phonemes) to ids and back.

Shape letters: ``B`` batch, ``L`` length of the longest sequence in the batch.
"""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Int
from torch import Tensor

PAD_ID, START_ID, END_ID = 0, 1, 2
SPECIAL = ("<pad>", "<start>", "<end>")
LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
# The 39 sounds of the CMU Pronouncing Dictionary (ARPAbet, without stress marks).
PHONEMES = tuple(
    "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH".split()
)


class Tokenizer:
    """A fixed list of symbols and their ids: 0 pads, 1 starts, 2 ends a sequence; the symbols follow from 3 on.

    ``symbols`` holds every symbol once, in the order of their ids: letters, words, phonemes.

    Example:
        >>> letters = Tokenizer(LETTERS)
        >>> letters.encode("cab", end=True)
        [5, 3, 4, 2]
        >>> letters.decode([5, 3, 4, 2, 0])
        ['c', 'a', 'b']
    """

    def __init__(self, symbols: Iterable[str]) -> None:
        self.symbols = (*SPECIAL, *symbols)
        self._ids = {symbol: i for i, symbol in enumerate(self.symbols)}
        if len(self._ids) != len(self.symbols):
            double = next(s for i, s in enumerate(self.symbols) if self._ids[s] != i)
            raise ValueError(f"symbols holds {double!r} twice (or it is a special one); each must stand once")

    def __len__(self) -> int:
        """Size of the vocabulary, the three special symbols included."""
        return len(self.symbols)

    def encode(self, sequence: Sequence[str], *, start: bool = False, end: bool = False) -> list[int]:
        """Ids of a sequence's symbols, with the start and end symbol if asked for.

        Raises:
            ValueError: A symbol is not in the vocabulary; the message names it and its place.
        """
        ids = [START_ID] if start else []
        for place, symbol in enumerate(sequence):
            if symbol not in self._ids:
                raise ValueError(
                    f"{symbol!r} at place {place} of {sequence!r} is not among the {len(self.symbols) - len(SPECIAL)} "
                    f"symbols {' '.join(self.symbols[3:6])} ... {self.symbols[-1]}"
                )
            ids.append(self._ids[symbol])
        return [*ids, END_ID] if end else ids

    def decode(self, ids: Iterable[int] | Int[Tensor, " L"]) -> list[str]:
        """Symbols of the ids up to the end symbol, the special ones left out."""
        symbols = []
        for i in ids.tolist() if isinstance(ids, Tensor) else ids:
            if not 0 <= i < len(self.symbols):
                raise ValueError(f"id {i} is outside the vocabulary of {len(self.symbols)} symbols")
            if i == END_ID:
                break
            if i >= len(SPECIAL):
                symbols.append(self.symbols[i])
        return symbols

    def batch(
        self, sequences: Sequence[Sequence[str]], *, start: bool = False, end: bool = False
    ) -> Int[Tensor, "B L"]:
        """Encode several sequences and pad them to the longest."""
        return pad([self.encode(sequence, start=start, end=end) for sequence in sequences])


def pad(sequences: Sequence[Sequence[int]]) -> Int[Tensor, "B L"]:
    """Sequences of ids as one tensor, short ones filled up with ``PAD_ID`` on the right."""
    if not sequences:
        raise ValueError("sequences is empty; expected at least one")
    length = max(map(len, sequences))
    return torch.tensor([[*s, *[PAD_ID] * (length - len(s))] for s in sequences], dtype=torch.long)
