"""How words are pronounced, in a terminal: ``python -m course_utils.pretrained pronounce attention``."""

import argparse
import sys
from collections.abc import Sequence

import torch
from torch import nn

from ..datasets.pronunciations import pronunciations
from ..decoding import Beams, beam_search
from .pronunciation import MAX_PHONEMES, SOUNDS, SPELLING, Alignment, align, require_word
from .shipped import load

SHADES = " \u2591\u2592\u2593\u2588"  # of an alignment drawn in a terminal


def drawn(word: str, alignment: Alignment, shades: str = SHADES) -> str:
    """An alignment as lines of text: one line a sound, one column a letter, darker where the weight is larger.

    ``shades`` are the characters for weights from 0 to 1, evenly spaced.
    """
    lines = [" " * 7 + "".join(f"{letter} " for letter in word)]
    for sound, row in zip(alignment.sounds, alignment.weights.tolist(), strict=True):
        cells = "".join(shades[min(int(weight * len(shades)), len(shades) - 1)] * 2 for weight in row)
        lines.append(f"{sound:>6} {cells}")
    return "\n".join(line.rstrip() for line in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Pronounce words given on the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m course_utils.pretrained pronounce", description="How words are pronounced."
    )
    parser.add_argument("words", nargs="+", metavar="word", help="letters a to z, as: attention")
    parser.add_argument("--beams", type=int, default=5, help="beams of the search, that many are listed (default: 5)")
    options = parser.parse_args(arguments)
    try:
        words = [require_word(word) for word in options.words]
        model = load("transformer")
        for word in words:
            print(f"{'' if word == words[0] else chr(10)}{_report(model, word, options.beams)}")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _report(model: nn.Module, word: str, beam_size: int) -> str:
    beams: Beams = beam_search(model, SPELLING.batch([word]), max_len=MAX_PHONEMES, beam_size=beam_size)
    best = align(model, word, decode=lambda *_, **__: beams.best())
    listed = [" ".join(sounds) for sounds in pronunciations().get(word, ())]
    lines = [f"{word} (best first, by probability a sound; beside each that of the whole)"]
    for tokens, log_prob in zip(beams.tokens[0], beams.log_probs[0].tolist(), strict=True):
        if log_prob > -torch.inf:
            sounds = " ".join(SOUNDS.decode(tokens))
            lines.append(
                f"  {sounds}   {torch.tensor(log_prob).exp():.1%}{'  (in the dictionary)' * (sounds in listed)}"
            )
    if not listed:
        lines.append("  (the dictionary does not have this word)")
    try:
        SHADES.encode(sys.stdout.encoding or "ascii")
        shades = SHADES
    except UnicodeEncodeError:  # a terminal of few characters
        shades = " .:*#"
    return "\n".join(lines) + "\n\n" + drawn(word, best, shades)
