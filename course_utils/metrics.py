"""How good is it: edit distance, phoneme and word error rate with several accepted answers, perplexity, bits per symbol."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor, nn

from .datasets.text_windows import windows
from .training.losses import next_symbol_loss


def edit_distance(a: Sequence[str], b: Sequence[str]) -> int:
    """The fewest insertions, deletions and substitutions that turn ``a`` into ``b`` (Levenshtein distance).

    Args:
        a: A sequence of symbols (a string: its characters).
        b: Another.

    Source:
        Levenshtein, "Binary Codes Capable of Correcting Deletions, Insertions, and Reversals", 1966; computed row by row
        as in Wagner and Fischer, "The String-to-String Correction Problem", 1974.

    Example:
        >>> edit_distance("kitten", "sitting")
        3
    """
    row = list(range(len(b) + 1))  # distance of a[:0] to b[:j]
    for i, symbol in enumerate(a, start=1):
        previous, row = row, [i]
        for j, other in enumerate(b, start=1):
            row.append(min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (symbol != other)))
    return row[-1]


def phoneme_error_rate(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]]) -> float:
    """Edits needed, over all words together, divided by the number of phonemes in the references.

    A word may have several accepted pronunciations: the nearest one counts (the first of them, where several are as near).

    Args:
        hypotheses: One sequence of phonemes for each word.
        references: For each word its accepted pronunciations, at least one.

    Returns:
        0 when every word is right; may pass 1 when hypotheses are too long.

    Raises:
        ValueError: The two differ in number, are empty, or a word has no reference.

    Example:
        >>> phoneme_error_rate([["R", "IY", "D"], ["AH"]], [[["R", "EH", "D"], ["R", "IY", "D"]], [["EY"]]])
        0.25
    """
    _require_references(hypotheses, references)
    edits = length = 0
    for hypothesis, accepted in zip(hypotheses, references, strict=True):
        nearest = min(accepted, key=lambda reference: edit_distance(hypothesis, reference))
        edits += edit_distance(hypothesis, nearest)
        length += len(nearest)
    return edits / length


def word_error_rate(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]]) -> float:
    """Share of words whose hypothesis is none of the accepted pronunciations.

    Args:
        hypotheses: One sequence of phonemes for each word.
        references: For each word its accepted pronunciations, at least one.

    Raises:
        ValueError: The two differ in number, are empty, or a word has no reference.
    """
    _require_references(hypotheses, references)
    wrong = sum(
        list(hypothesis) not in [list(reference) for reference in accepted]
        for hypothesis, accepted in zip(hypotheses, references, strict=True)
    )
    return wrong / len(hypotheses)


def perplexity(total_nll: float, num_tokens: int) -> float:
    """``exp`` of the mean negative log-likelihood: among how many equally likely symbols the model hesitates.

    Takes the total over all batches and their number of tokens: averaging the perplexities (or the means) of batches of
    unequal size gives another number.

    Args:
        total_nll: Sum of ``-log p`` over all predicted tokens, natural logarithm.
        num_tokens: How many were predicted, padding not counted.

    Raises:
        ValueError: ``num_tokens`` is not positive, or ``total_nll`` is negative.

    Example:
        >>> round(perplexity(total_nll=10 * math.log(8), num_tokens=10), 6)
        8.0
    """
    if num_tokens < 1:
        raise ValueError(f"num_tokens ({num_tokens}) must be at least 1")
    if total_nll < 0:
        raise ValueError(f"total_nll ({total_nll}) is negative; expected a sum of -log p, which is at least 0")
    return math.exp(total_nll / num_tokens)


def bits_per_symbol(total_nll: float, num_symbols: int) -> float:
    """The mean negative log-likelihood to base 2: bits per character, where the symbols are characters.

    Args:
        total_nll: As for ``perplexity``.
        num_symbols: How many were predicted, padding not counted.

    Raises:
        ValueError: As ``perplexity``.

    Example:
        >>> round(bits_per_symbol(total_nll=10 * math.log(8), num_symbols=10), 6)
        3.0
    """
    return math.log2(perplexity(total_nll, num_symbols))


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


def _require_references(hypotheses: Sequence, references: Sequence) -> None:
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses but references for {len(references)} words; they must agree")
    if not len(hypotheses):
        raise ValueError("hypotheses is empty: the error rate of no words is not defined")
    for place, accepted in enumerate(references):
        if not accepted or not all(accepted):
            raise ValueError(
                f"references[{place}] ({accepted!r}) holds no pronunciation or an empty one; expected a list of them"
            )
        if isinstance(accepted, str) or isinstance(accepted[0], str):
            raise ValueError(
                f"references[{place}] ({accepted!r}) is one pronunciation; expected a list of accepted ones: [{accepted!r}]"
            )
