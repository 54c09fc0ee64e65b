"""How good is it: edit distance, phoneme and word error rate with several accepted answers, perplexity, bits per symbol."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor, nn

from .datasets.text_windows import windows


def edit_distance(a: Sequence[object], b: Sequence[object]) -> int:
    """The fewest insertions, deletions and substitutions that turn ``a`` into ``b`` (Levenshtein distance).

    The symbols are letters, phonemes or token ids: anything that can be compared.

    Source:
        Levenshtein, "Binary Codes Capable of Correcting Deletions, Insertions, and Reversals", 1966; computed row by row as
        in Wagner and Fischer, "The String-to-String Correction Problem", 1974.

    Example:
        >>> edit_distance("kitten", "sitting")
        3
    """
    row = list(range(len(b) + 1))  # distance of a[:0] to b[:j]
    for i, symbol_a in enumerate(a, start=1):
        previous, row = row, [i]
        for j, symbol_b in enumerate(b, start=1):
            row.append(min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (symbol_a != symbol_b)))
    return row[-1]


def phoneme_error_rate(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]]) -> float:
    """Edits needed, over all words together, divided by the number of phonemes in the references.

    ``references`` holds the accepted pronunciations of each word: the nearest one counts (the first of them, where several
    are as near). The rate is 0 when every word is right, and may pass 1 when hypotheses are too long.

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

    ``references`` holds the accepted pronunciations of each word, at least one.
    """
    _require_references(hypotheses, references)
    wrong = sum(
        list(hypothesis) not in [list(reference) for reference in accepted]
        for hypothesis, accepted in zip(hypotheses, references, strict=True)
    )
    return wrong / len(hypotheses)


def perplexity(total_nll: float, num_tokens: int) -> float:
    """``exp`` of the mean negative log-likelihood: among how many equally likely symbols the model hesitates.

    It takes the total over all batches, in nats, and the number of tokens predicted, padding not counted: averaging the
    perplexities (or the means) of batches of unequal size gives another number.

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

    The total is in nats, as for ``perplexity``, and padding is not counted.

    Example:
        >>> round(bits_per_symbol(total_nll=10 * math.log(8), num_symbols=10), 6)
        3.0
    """
    return math.log2(perplexity(total_nll, num_symbols))


@torch.no_grad()
def text_scores(
    model: nn.Module, ids: Int[Tensor, " N"], *, length: int = 512, stride: int | None = None, batch_size: int = 16
) -> dict[str, float]:
    """How well a model predicts a text: each character from those before it in its window of ``length`` characters.

    The scores are ``"loss"`` (nats per character), ``"perplexity"`` and ``"bits"`` (per character).

    Args:
        model: ``model(tokens)`` gives the logits of the symbol after each. It is put into evaluation mode.
        stride: None: the windows follow one another, and the first characters of each have little before them. A number:
            each window begins so many characters after the one before, and after the first window only its last
            ``stride`` characters are scored, so that each has at least ``length - stride`` before it.
    """
    model.eval()
    total, number = 0.0, 0
    for window in windows(ids, length, batch_size, stride=stride):
        logits = model(window[:, :-1])  # (B, L, V)
        losses = F.cross_entropy(logits.transpose(1, 2), window[:, 1:], reduction="none")  # (B, L)
        old = 0 if stride is None else length - stride  # of each window: scored in the one before
        if number == 0:
            total, number = losses[0, :old].double().sum().item(), old  # the first window has none before it
        total += losses[:, old:].double().sum().item()
        number += losses[:, old:].numel()
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
