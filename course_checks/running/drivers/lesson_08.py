"""Lesson 08: a score is a function that reads a table."""

import operator

from ..counting import counted

MOST_CALLS = 50_000  # every pair of positions with every other is 13,000 for nine positions


def with_a_score(answer, case):
    """The answer gets a function in place of the table of scores."""
    table, length = case["scores"].tolist(), case["length"]

    def score(m, n):
        m, n = operator.index(m), operator.index(n)
        if not (0 <= m < length and 0 <= n < length):
            raise ValueError(f"score({m}, {n}): positions run from 0 to {length - 1}")
        return table[m][n]

    return answer(counted(score, MOST_CALLS, "score"), length)
