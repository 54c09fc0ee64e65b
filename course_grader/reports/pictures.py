"""What the class page's pictures show; ``templates/pictures.html`` draws them."""

import math
from collections.abc import Sequence

BINS = 20


def bins(totals: Sequence[float], best: float) -> list[tuple[str, float, str]]:
    """How many students have how many points: (points, share of the largest number, number) of each bin.

    Args:
        totals: Of each student.
        best: What can be earned; whoever has more stands in the last bin.
    """
    step = max(1, math.ceil(best / BINS))
    counts = [0] * (math.floor(best / step) + 1)
    for total in totals:
        counts[min(max(0, math.floor(total / step)), len(counts) - 1)] += 1
    tallest = max([1, *counts])
    found = []
    for index, count in enumerate(counts):
        low, high = index * step, min((index + 1) * step - 1, best)
        label = f"{low:g}" if high <= low else f"{low:g}\N{EN DASH}{high:g}"
        found.append((label, count / tallest, str(count or "")))
    return found
