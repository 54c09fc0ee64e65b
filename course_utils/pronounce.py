"""From a word's spelling to its sounds with a trained model, and how often that is right.

For anyone: ``python -m course_utils.pronounce attention`` prints the sounds and draws which letters each looked at.

Shape letters: ``B`` batch, ``H`` heads, ``L_s`` source length (letters), ``L_t`` target length (sounds).
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from . import pretrained
from .datasets.batches import source_batches
from .datasets.pronunciations import Pronunciation, pronunciations
from .decoding import Beams, Decoded, beam_search, greedy_decode
from .metrics import phoneme_error_rate, word_error_rate
from .models.transformer import AttentionWeights
from .tokenizers import LETTERS, PAD_ID, PHONEMES, START_ID, Tokenizer
from .training import label_smoothing_loss

SPELLING, SOUNDS = Tokenizer(LETTERS), Tokenizer(PHONEMES)
MAX_PHONEMES = 32  # the dictionary's longest pronunciation has 28, and the end symbol
SHADES = " \u2591\u2592\u2593\u2588"  # of an alignment drawn in a terminal


def pronounce(
    model: nn.Module,
    words: Sequence[str],
    *,
    decode: Callable[..., Decoded] = greedy_decode,
    batch_size: int = 256,
) -> list[Pronunciation]:
    """The phonemes of each word, in the order of ``words``.

    Args:
        model: A trained one: letters in, phonemes out.
        words: Each of the letters a to z; capitals are read as small letters.
        decode: How to search: ``greedy_decode``, or one with its signature.
        batch_size: Words decoded at a time; words of similar length go together.

    Raises:
        ValueError: A word is empty or has another character than a to z.
    """
    ids = [SPELLING.encode(require_word(word)) for word in words]
    found: list[Pronunciation] = [()] * len(ids)
    model.eval()
    for places, source in source_batches(ids, batch_size):
        tokens = decode(model, source, max_len=MAX_PHONEMES).tokens  # (B, L_out)
        for place, row in zip(places, tokens, strict=True):
            found[place] = tuple(SOUNDS.decode(row))
    return found


def require_word(word: str) -> str:
    """The word in small letters.

    Raises:
        ValueError: It is empty, longer than 60 letters, or has another character than a to z.
    """
    small = word.lower()
    strange = sorted({letter for letter in small if letter not in LETTERS})
    if not small or strange:
        reason = f"holds {', '.join(map(repr, strange))}" if strange else "is empty"
        raise ValueError(f"word ({word!r}) {reason}; expected letters from a to z, as in 'attention'")
    if len(small) > 60:
        raise ValueError(f"word ({word[:20]!r}...) has {len(small)} letters; expected 60 at most")
    return small


def error_rates(
    model: nn.Module, words: Mapping[str, Sequence[Pronunciation]], *, decode: Callable[..., Decoded] = greedy_decode
) -> dict[str, float]:
    """Word and phoneme error rate on words with their accepted pronunciations.

    Returns:
        ``{"WER": ..., "PER": ...}``, as fractions.

    Raises:
        ValueError: ``words`` is empty or holds a word that is not of letters.
    """
    hypotheses, references = pronounce(model, list(words), decode=decode), list(words.values())
    return {
        "WER": word_error_rate(hypotheses, references),
        "PER": phoneme_error_rate(hypotheses, references),
    }


def error_rates_by_length(
    model: nn.Module, words: Mapping[str, Sequence[Pronunciation]], groups: Iterable[tuple[int, int]]
) -> list[dict[str, float]]:
    """Error rates of the words in each group of lengths.

    Args:
        model: As for ``pronounce``.
        words: Words with their accepted pronunciations.
        groups: Shortest and longest number of letters of each group, both included.

    Returns:
        One dictionary a group: ``"words"`` (how many), ``"WER"`` and ``"PER"``.

    Raises:
        ValueError: A group holds no word.
    """
    found = []
    for shortest, longest in groups:
        inside = {word: accepted for word, accepted in words.items() if shortest <= len(word) <= longest}
        if not inside:
            raise ValueError(f"no word has {shortest} to {longest} letters")
        found.append({"words": len(inside), **error_rates(model, inside)})
    return found


def teacher_forced_loss(
    model: nn.Module, batch: tuple[torch.Tensor, torch.Tensor], smoothing: float = 0.0
) -> torch.Tensor:
    """Mean cross-entropy of each target symbol, the true symbols before it being given; padding does not count.

    Args:
        model: ``model(source, target)`` gives the logits of the symbol after each position of the target.
        batch: Source and target ids, the target between start and end symbol.
        smoothing: As for ``label_smoothing_loss``.
    """
    source, target = batch
    return label_smoothing_loss(model(source, target[:, :-1]), target[:, 1:], smoothing=smoothing)


class Alignment(NamedTuple):
    """How a model pronounces one word, and where it looked.

    Args:
        sounds: Phonemes, and ``"<end>"`` where the model came to an end.
        weights: One row a sound, one column a letter, shape ``(L_t, L_s)``; each row sums to 1.
        probability: Of the whole sequence.
    """

    sounds: list[str]
    weights: Float[Tensor, "L_t L_s"]
    probability: float


@torch.no_grad()
def align(model: nn.Module, word: str, *, decode: Callable[..., Decoded] = greedy_decode) -> Alignment:
    """The sounds of a word and the letters that each looked at.

    Args:
        model: A trained one with attention: ``RecurrentSeq2Seq`` or ``Transformer``. Of a Transformer's cross-attention the
            mean over all heads and layers is shown.
        word: Letters a to z; capitals are read as small letters.
        decode: How to search.

    Raises:
        ValueError: The model has no attention, or ``word`` is not a word of the letters a to z.
    """
    model.eval()
    source = SPELLING.batch([require_word(word)])  # (1, L_s)
    tokens, log_probs = decode(model, source, max_len=MAX_PHONEMES)  # (1, L_out), (1,)
    tokens = tokens[:, : int((tokens != PAD_ID).sum())]  # (1, L_t): a beam may be longer than the best one
    previous = torch.cat((torch.full((1, 1), START_ID), tokens[:, :-1]), dim=1)  # (1, L_t): what each step was given
    _, weights = model(source, previous, return_weights=True)
    if isinstance(weights, AttentionWeights):
        weights = torch.stack(weights.decoder_cross).mean(dim=(0, 2))  # (1, L_t, L_s), of (num_layers, 1, H, L_t, L_s)
    return Alignment([SOUNDS.symbols[i] for i in tokens[0].tolist()], weights[0], log_probs.exp().item())


def drawn(word: str, alignment: Alignment, shades: str = SHADES) -> str:
    """An alignment as lines of text: one line a sound, one column a letter, darker where the weight is larger.

    Args:
        word: The letters.
        alignment: Of ``align``.
        shades: Characters for weights from 0 to 1, evenly spaced.
    """
    lines = [" " * 7 + "".join(f"{letter} " for letter in word)]
    for sound, row in zip(alignment.sounds, alignment.weights.tolist(), strict=True):
        cells = "".join(shades[min(int(weight * len(shades)), len(shades) - 1)] * 2 for weight in row)
        lines.append(f"{sound:>6} {cells}")
    return "\n".join(line.rstrip() for line in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Pronounce words given on the command line."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.pronounce", description="How words are pronounced.")
    parser.add_argument("words", nargs="+", metavar="word", help="letters a to z, as: attention")
    parser.add_argument("--beams", type=int, default=5, help="beams of the search, that many are listed (default: 5)")
    options = parser.parse_args(arguments)
    try:
        words = [require_word(word) for word in options.words]
        model = pretrained.load("transformer")
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


if __name__ == "__main__":
    sys.exit(main())
