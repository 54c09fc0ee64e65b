"""What open experiments share: tables of repeated measurements."""

import math
from collections.abc import Callable, Container, Iterable
from numbers import Real

import numpy as np
from torch import Tensor

from .experiment import Claim


def numbers(value: object) -> list[float]:
    """The numbers of a list, a tuple, or a tensor or array with one axis.

    Raises:
        TypeError: It is something else, or holds something else.
    """
    items = value.tolist() if isinstance(value, Tensor | np.ndarray) else value
    if not isinstance(items, list | tuple):
        raise TypeError(f"not a list of numbers: {value!r}")
    return [number(item) for item in items]


def number(value: object) -> float:
    """One number, also as a tensor that holds a single one.

    Raises:
        TypeError: It is something else.
    """
    item = value.item() if isinstance(value, Tensor) and value.numel() == 1 else value
    if not _is_number(item):
        raise TypeError(f"not a number: {value!r}")
    return float(item)


def mean(results: dict, key: object) -> float:
    """The mean of one row of the table."""
    row = numbers(results[key])
    return sum(row) / len(row)


def table_of(
    keys: Iterable[object],
    count: int,
    low: float = -math.inf,
    high: float = math.inf,
    may_be_equal: Container[object] = (),
) -> Callable[[dict], str | None]:
    """A claim: every key has ``count`` numbers from ``low`` to ``high``, and the runs differ (unless all are at a limit).

    Args:
        keys: What was varied.
        count: How many seeds each was tried with.
        low: The smallest number that is possible.
        high: The largest.
        may_be_equal: Those of ``keys`` whose runs may well have the same number.
    """
    keys = list(keys)

    def problem(results: dict) -> str | None:
        for key in keys:
            row = numbers(results[key])
            if len(row) != count:
                return f"entry {key!r} holds {len(row)} number{'s' * (len(row) != 1)} where {count} runs are asked for."
            if outside := [value for value in row if not low <= value <= high]:  # NaN is outside too
                return f"entry {key!r} holds {outside[0]:.4g}, which such a run cannot give."
        rows = [numbers(results[key]) for key in keys]
        for key, row in zip(keys, rows, strict=True):
            if count > 1 and len(set(row)) == 1 and row[0] not in (low, high) and key not in may_be_equal:
                return f"the {count} numbers of entry {key!r} are the same: was the seed (or the sample) changed from run to run?"
        if len(rows) > 1 and all(row == rows[0] for row in rows):
            return "all entries hold the same numbers: was anything changed between them?"
        return None

    return problem


def means_within(
    ranges: dict[object, tuple[float, float]], sentence: Callable[[object, float], str]
) -> Callable[[dict], str | None]:
    """A claim: the mean of every row lies in its range; ``sentence`` says of a key and its mean that it does not."""

    def problem(results: dict) -> str | None:
        for key, (low, high) in ranges.items():
            if not low <= (average := mean(results, key)) <= high:
                return sentence(key, average)
        return None

    return problem


def each_its_own(keys: Iterable[object]) -> Callable[[dict], str | None]:
    """A claim: no two rows hold the same numbers."""
    keys = list(keys)

    def problem(results: dict) -> str | None:
        rows: dict[tuple, object] = {}
        for key in keys:
            row = tuple(numbers(results[key]))
            if row in rows:
                return f"entries {rows[row]} and {key} hold the same five numbers, which no two runs give."
            rows[row] = key
        return None

    return problem


def one_of(results: dict, key: object, options: Iterable[object]) -> str | None:
    """What is wrong with a reading that must be one of ``options``; None if it is one."""
    options = list(options)
    if results[key] in options:
        return None
    return f"entry {key!r} is {results[key]!r}; it must be one of {', '.join(map(repr, options))}."


def reads_off(key: object, right: Callable[[dict], float], advice: str, slack: float = 0.0) -> Claim:
    """The claim that the number read off under ``key`` follows from the student's own table.

    Args:
        key: Where the number stands.
        right: Table to the number that follows from it.
        advice: What to do if it is another.
        slack: Share by which it may differ, for a ratio that was rounded.
    """

    def problem(results: dict) -> str | None:
        expected, answer = right(results), number(results[key])
        fits = abs(answer - expected) <= slack * abs(expected)
        return None if fits else f"entry {key!r} is {answer:.3g}; by your own numbers it is another."

    return Claim(str(key), problem, advice)


def _is_number(item: object) -> bool:
    return isinstance(item, Real) and not isinstance(item, bool)
