"""How an exercise, and the course, did with a class: difficulty, discrimination, the trend over the lessons."""

import statistics
from dataclasses import dataclass

from .gradebook import Gradebook

FEWEST = 20  # students; a correlation of fewer says nothing


@dataclass(frozen=True)
class Item:
    """One exercise, by those who handed something in for its lesson.

    Args:
        students: How many they are.
        difficulty: The share of the points that they earned, from 0 to 1; None of nobody.
        discrimination: Item-rest correlation: Pearson's between the points of this exercise and of the lesson's others.
            None for fewer than ``FEWEST`` students, or where all have the same.
    """

    students: int
    difficulty: float | None
    discrimination: float | None


def item(book: Gradebook, lesson: str, number: str) -> Item:
    """What the class made of one exercise."""
    graded = [student.work[lesson].marks for student in book.students if student.work[lesson].is_there]
    graded = [marks for marks in graded if marks[number].earned is not None]
    own = [marks[number].earned for marks in graded]
    rest = [sum(mark.earned or 0.0 for mark in marks.values()) - marks[number].earned for marks in graded]
    worth = book.lessons[lesson][number]
    difficulty = statistics.fmean(own) / worth if own and worth else None
    varied = len(set(own)) > 1 and len(set(rest)) > 1
    return Item(len(own), difficulty, statistics.correlation(own, rest) if varied and len(own) >= FEWEST else None)


def trend(book: Gradebook) -> list[tuple[str, float, str]]:
    """For each lesson the mean share of its points, by those who handed something in, and how many they are."""
    shares = []
    for lesson in book.lessons:
        points = [student.work[lesson].points for student in book.students if student.work[lesson].is_there]
        share = statistics.fmean(points) / book.worth(lesson) if points and book.worth(lesson) else 0.0
        shares.append((lesson, min(1.0, share), f"{share:.0%}" if points else ""))
    return shares
