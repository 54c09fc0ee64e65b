"""From a word's spelling to its sounds with a trained model, and how often that is right.

Shape letters: ``B`` batch, ``H`` heads, ``L_s`` source length (letters), ``L_t`` target length (sounds).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..datasets.batches import source_batches
from ..datasets.pronunciations import Pronunciation
from ..decoding import Decoded, greedy_decode
from ..metrics import phoneme_error_rate, word_error_rate
from ..models import Transformer
from ..recording import record_attention
from ..tokenizers import LETTERS, PAD_ID, PHONEMES, START_ID, Tokenizer

SPELLING, SOUNDS = Tokenizer(LETTERS), Tokenizer(PHONEMES)
MAX_PHONEMES = 32  # the dictionary's longest pronunciation has 28, and the end symbol


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
    """Word and phoneme error rate (``"WER"``, ``"PER"``), as fractions, on words with their accepted pronunciations."""
    hypotheses, references = pronounce(model, list(words), decode=decode), list(words.values())
    return {
        "WER": word_error_rate(hypotheses, references),
        "PER": phoneme_error_rate(hypotheses, references),
    }


class Alignment(NamedTuple):
    """How a model pronounces one word, and where it looked.

    Args:
        sounds: Phonemes, and ``"<end>"`` where the model came to an end.
        weights: One row a sound, one column a letter; each row sums to 1.
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
        decode: How to search, as for ``pronounce``.

    Raises:
        ValueError: The model has no attention, or ``word`` is not a word of the letters a to z.
    """
    model.eval()
    source = SPELLING.batch([require_word(word)])  # (1, L_s)
    tokens, log_probs = decode(model, source, max_len=MAX_PHONEMES)  # (1, L_out), (1,)
    tokens = tokens[:, : int((tokens != PAD_ID).sum())]  # (1, L_t): a beam may be longer than the best one
    previous = torch.cat((torch.full((1, 1), START_ID), tokens[:, :-1]), dim=1)  # (1, L_t): what each step was given
    with record_attention(model) as seen:
        model(source, previous)
    if isinstance(model, Transformer):
        weights = torch.stack(seen.matching("decoder_layers.*.cross_attention"))  # (num_layers, 1, H, L_t, L_s)
        weights = weights.mean(dim=(0, 2))  # (1, L_t, L_s)
    else:  # one call for each sound
        weights = torch.cat(seen.calls("attention"), dim=1)  # (1, L_t, L_s), of L_t times (1, 1, L_s)
    return Alignment([SOUNDS.symbols[i] for i in tokens[0].tolist()], weights[0], log_probs.exp().item())
