"""How exercises and lessons went: difficulty, discrimination, the distribution of points, the trend over the lessons."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .gradebook import Gradebook

FEWEST = 20  # students; a correlation of fewer says nothing
BINS = 20


@dataclass(frozen=True)
class Item:
    """One exercise, by those who handed something in for its lesson."""

    difficulty: float | None  # the share of the points that they earned, from 0 to 1; None of nobody
    # Item-rest correlation: Pearson's between the points of this exercise and those of the lesson's others.
    discrimination: float | None  # None of fewer than ``FEWEST`` students, or where all have the same


def item(book: Gradebook, lesson: str, number: str) -> Item:
    """What the class made of one exercise."""
    graded = [student.work[lesson].marks for student in book.students if student.work[lesson].is_there]
    graded = [marks for marks in graded if marks[number].earned is not None]
    own = [marks[number].earned for marks in graded]
    rest = [sum(mark.earned or 0.0 for mark in marks.values()) - marks[number].earned for marks in graded]
    worth = book.lessons[lesson][number]
    difficulty = statistics.fmean(own) / worth if own and worth else None
    varied = len(set(own)) > 1 and len(set(rest)) > 1
    return Item(difficulty, statistics.correlation(own, rest) if varied and len(own) >= FEWEST else None)


def trend(book: Gradebook) -> list[tuple[str, float, str]]:
    """For each lesson the mean share of its points, by those who handed something in, and how many they are."""
    shares = []
    for lesson in book.lessons:
        points = [student.work[lesson].points for student in book.students if student.work[lesson].is_there]
        share = statistics.fmean(points) / book.worth(lesson) if points and book.worth(lesson) else 0.0
        shares.append((lesson, min(1.0, share), f"{share:.0%}" if points else ""))
    return shares


def bins(totals: Sequence[float], best: float) -> list[tuple[str, float, str]]:
    """How many students have how many points: (points, share of the largest number, number) of each bin.

    Whoever has more than the best that can be earned stands in the last one.
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
