"""A language model that is counted, not trained: the next character from the few before it."""

import math
from collections import Counter

import torch
from jaxtyping import Float
from torch import Tensor


class NGrams:
    """Counts of every stretch of up to ``order`` characters, and the probabilities that follow from them.

    With ``order=3``, a trigram model, a character is predicted from the two before it. The counts of the longest context
    are mixed with the prediction from a context one character shorter, and so on down to all ``num_symbols`` alike: after a
    context that came ``n`` times and was followed by ``t`` different characters, the shorter context gets ``t / (n + t)``.

    Args:
        text: To count in.
        order: Most characters of a stretch, at least 1; 0: all symbols are equally probable.
        num_symbols: Size of the alphabet.

    Source:
        Witten and Bell, "The Zero-Frequency Problem", 1991; as mixed here: Chen and Goodman, "An Empirical Study
        of Smoothing Techniques for Language Modeling", 1998, section 2.5.
    """

    def __init__(self, text: str, order: int, num_symbols: int) -> None:
        if order < 0 or num_symbols < 1:
            raise ValueError(f"order ({order}) must be at least 0, num_symbols ({num_symbols}) at least 1")
        self.num_symbols = num_symbols
        self.counts = [Counter(text[i : i + n] for i in range(len(text) - n + 1)) for n in range(1, order + 1)]
        self.kinds = [Counter(stretch[:-1] for stretch in table) for table in self.counts]
        self.totals = []
        for table in self.counts:
            totals: Counter[str] = Counter()
            for stretch, count in table.items():
                totals[stretch[:-1]] += count
            self.totals.append(totals)

    def probability(self, before: str, symbol: str, order: int | None = None) -> float:
        """Of ``symbol`` after the text ``before``, of which the last ``order - 1`` characters matter.

        ``order`` may be less than the model's own, which is what None means.
        """
        order = len(self.counts) if order is None else order
        if not 0 <= order <= len(self.counts):
            raise ValueError(f"order ({order}) must be from 0 to {len(self.counts)}, the order that was counted")
        probability = 1.0 / self.num_symbols
        for n in range(min(order, len(before) + 1)):
            context = before[len(before) - n :]
            count = self.totals[n][context]
            if not count:
                break
            t = self.kinds[n][context]
            probability = (self.counts[n][context + symbol] + t * probability) / (count + t)
        return probability

    def bits(self, text: str, order: int | None = None) -> Float[Tensor, " N"]:
        """Bits for each character of a text but the first, each predicted from those before it."""
        most = len(self.counts)
        return torch.tensor(
            [-math.log2(self.probability(text[max(0, i - most) : i], text[i], order)) for i in range(1, len(text))]
        )
