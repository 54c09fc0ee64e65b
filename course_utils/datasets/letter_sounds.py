"""How is this c spoken? Words with one letter c, its sound, and the letters around it: a table to look things up in."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .pronunciations import split

SOUNDS = ("K", "S", "CH", "SH")
OTHER_SPELLINGS = set("kqsxz")  # letters that may be the source of these sounds themselves
PLACES = "abcdefghijklmnopqrstuvwxyz."  # the dot: outside the word


def sounds_of_c(part: str) -> tuple[list[str], Int[Tensor, " n"]]:
    """Words of one part of the dictionary (``"train"``, ...) with one c whose sound is certain, and its index in ``SOUNDS``.

    A word is left out if another of its letters may make such a sound, or if its pronunciations disagree about it.

    Example:
        >>> words, sounds = sounds_of_c("train")
        >>> SOUNDS[sounds[words.index("face")]]
        'S'
    """
    words, sounds = [], []
    for word, accepted in split(part).items():
        if word.count("c") == 1 and not OTHER_SPELLINGS & set(word):
            readings = {tuple(sound for sound in spoken if sound in SOUNDS) for spoken in accepted}
            if len(readings) == 1 and len(only := readings.pop()) == 1:
                words.append(word)
                sounds.append(SOUNDS.index(only[0]))
    return words, torch.tensor(sounds)


def letters_around(words: Sequence[str], reach: int = 3) -> Float[Tensor, "n d"]:
    """One-hot vectors of the ``reach`` letters before and after the c of each word, side by side: d = 2 * reach * 27.

    The dot product of two rows counts the places in which two words agree.

    Raises:
        ValueError: A word has not exactly one c, or another character than the letters a to z.
    """
    rows = torch.zeros(len(words), 2 * reach, len(PLACES))
    for row, word in zip(rows, words, strict=True):
        if word.count("c") != 1 or not set(word) <= set(PLACES[:-1]):
            raise ValueError(f"{word!r} must be of the letters a to z, with exactly one c")
        padded = "." * reach + word + "." * reach
        at = padded.index("c")
        around = padded[at - reach : at] + padded[at + 1 : at + 1 + reach]
        for place, letter in enumerate(around):
            row[place, PLACES.index(letter)] = 1.0
    return rows.flatten(1)
