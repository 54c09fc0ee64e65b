"""Word vectors from Python's own documentation: counted, weighed and compressed in half a second.

Shape letters: ``V`` vocabulary size, ``d`` vector size.
"""

import collections
import difflib
import functools
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..similarity import nearest_neighbors
from .documentation import python_documentation, split_words


def cooccurrence_counts(words: list[str], vocabulary: list[str], window: int) -> Float[Tensor, "V V"]:
    """How often two vocabulary words stand at most ``window`` places apart, counted in both directions.

    Rows and columns are in the order of ``vocabulary``. Words outside it keep their place but are not counted.
    """
    if window < 1:
        raise ValueError(f"window ({window}) must be at least 1")
    size = len(vocabulary)
    index = {word: i for i, word in enumerate(vocabulary)}
    ids = torch.tensor([index.get(word, -1) for word in words])  # (len(words),)
    counts = torch.zeros(size * size)
    for distance in range(1, window + 1):
        left, right = ids[:-distance], ids[distance:]
        both = (left >= 0) & (right >= 0)
        counts += torch.bincount(left[both] * size + right[both], minlength=size * size)
    counts = counts.view(size, size)  # (V, V)
    return counts + counts.T


def positive_pmi(counts: Float[Tensor, "V V"], smoothing: float = 0.75) -> Float[Tensor, "V V"]:
    """Positive pointwise mutual information: how much more often two words meet than chance would have it.

    ``max(0, log(P(w, c) / (P(w) P_s(c))))``, where ``P_s`` raises the context counts to the power ``smoothing`` first,
    which tempers the pull of rare contexts. Each word must have met at least one other.

    Source:
        Levy, Goldberg and Dagan, "Improving Distributional Similarity with Lessons Learned from Word Embeddings", 2015,
        sections 2.1 and 3.2.
    """
    total = counts.sum()
    word = counts.sum(dim=1, keepdim=True) / total  # (V, 1)
    context = counts.sum(dim=0, keepdim=True) ** smoothing  # (1, V)
    context = context / context.sum()
    return torch.log(counts / total / (word * context)).clamp(min=0.0)  # log(0) = -inf becomes 0


def two_halves(seed: int, window: int = 2, min_count: int = 10) -> tuple[Float[Tensor, "V V"], Float[Tensor, "V V"]]:
    """Counts of company in two random halves of the documentation's paragraphs: two tables for the same words.

    The words are those that each half holds at least ``min_count`` times, in alphabetical order.
    """
    paragraphs = [split_words(paragraph) for paragraph in python_documentation().split("\n\n")]
    order = torch.randperm(len(paragraphs), generator=torch.Generator().manual_seed(seed)).tolist()
    parts = order[: len(order) // 2], order[len(order) // 2 :]
    halves = [[word for i in part for word in paragraphs[i]] for part in parts]
    often = [{word for word, n in collections.Counter(half).items() if n >= min_count} for half in halves]
    vocabulary = sorted(often[0] & often[1])
    first, second = (cooccurrence_counts(half, vocabulary, window) for half in halves)
    return first, second


@dataclass(frozen=True)
class WordVectors:
    """Words, most frequent first, and their vectors: row ``i`` belongs to ``words[i]``."""

    words: tuple[str, ...]
    vectors: Float[Tensor, "V d"]

    def __getitem__(self, word: str) -> Float[Tensor, " d"]:
        """The vector of a word; ``KeyError`` as from ``index``."""
        return self.vectors[self.index(word)]

    def index(self, word: str) -> int:
        """The row of a word.

        Raises:
            KeyError: The word is not in the vocabulary; the message names similar ones that are.
        """
        try:
            return self._rows[word]
        except KeyError:
            close = ", ".join(difflib.get_close_matches(word, self.words)) or "none is similar"
            raise KeyError(f"{word!r} is not among the {len(self.words)} words (in it: {close})") from None

    @functools.cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def nearest(self, word: str, k: int = 5) -> list[tuple[str, float]]:
        """The ``k`` other words most similar by cosine, best first, each with its similarity."""
        row = self.index(word)
        if not 1 <= k < len(self.words):
            raise ValueError(f"k ({k}) must be between 1 and {len(self.words) - 1}")
        similarities, rows = nearest_neighbors(self.vectors[row], self.vectors, k + 1)
        pairs = [(self.words[i], s) for i, s in zip(rows.tolist(), similarities.tolist(), strict=True) if i != row]
        return pairs[:k]


@functools.cache
def word_vectors(d: int = 100, window: int = 2, min_count: int = 5) -> WordVectors:
    """Word vectors from Python's documentation: co-occurrence counts, PPMI, truncated SVD. About half a second.

    The sign of each of the ``d`` columns is fixed (largest entry positive), so that runs agree.

    Args:
        window: Largest distance at which two words count as neighbors.
        min_count: A word needs this many occurrences to get a vector.

    Source:
        Levy and Goldberg, "Neural Word Embedding as Implicit Matrix Factorization", 2014, section 4.2, equation 13
        (singular values to the power 1/2).
    """
    words = split_words(python_documentation())
    frequency = collections.Counter(words)
    vocabulary = sorted((w for w, n in frequency.items() if n >= min_count), key=lambda w: (-frequency[w], w))
    if not 1 <= d <= len(vocabulary):
        raise ValueError(f"d ({d}) must be between 1 and the vocabulary's size ({len(vocabulary)})")
    ppmi = positive_pmi(cooccurrence_counts(words, vocabulary, window))  # (V, V)
    left, singular, _ = torch.linalg.svd(ppmi)  # (V, V), (V,), _
    vectors = left[:, :d] * singular[:d] ** 0.5  # (V, d)
    return WordVectors(tuple(vocabulary), vectors * _column_signs(vectors))


def _column_signs(matrix: Float[Tensor, "V d"]) -> Float[Tensor, "1 d"]:
    """1 or -1 for each column, so that its entry of largest size becomes positive (an SVD leaves the sign open)."""
    rows: Int[Tensor, "1 d"] = matrix.abs().argmax(dim=0, keepdim=True)
    return torch.gather(matrix, 0, rows).sign()
