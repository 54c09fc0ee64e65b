"""The table of grades: a row a student, a column an exercise."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..master import Master
from ..names import cell
from ..submissions.record import Entry
from .results_folder import ResultsFolder


@dataclass
class _Row:
    """What is kept of one student while the table is made."""

    points: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    review: bool = False


def table(entries: Iterable[Entry], results: ResultsFolder, masters: dict[str, Master]) -> str:
    """The class as CSV.

    Args:
        entries: Every file of every student, of this run and of earlier ones.
        results: Where the results are; read one at a time.
        masters: All lessons of the course; those that have results get columns.
    """
    rows: dict[str, _Row] = {}
    lessons: set[str] = set()
    for entry in entries:
        row = rows.setdefault(entry.student, _Row())
        row.review |= entry.review
        if entry.note:
            row.notes.append(f"{entry.label or 'no file'}: {entry.note}")
        if not entry.counts:
            continue
        lessons.add(entry.lesson)
        result = results.result(*entry.result)
        if result is None:
            row.notes.append(f"{entry.label}: not graded yet")
            continue
        row.review |= result["review"]
        if result["problem"]:
            row.notes.append(f"{entry.label}: {result['problem']}")
            continue
        row.points.update({one["number"]: one["earned"] for one in result["exercises"]})
        row.notes += [
            f"lesson {entry.lesson}: {line}" for line in (*result["restored"], *result["noticed"], *result["events"])
        ]
    exercises = [e for lesson in sorted(lessons & set(masters)) for e in masters[lesson].exercises.values()]
    out = io.StringIO()
    writer = csv.writer(out)
    best = sum(exercise.points for exercise in exercises)
    writer.writerow(["student", *(exercise.number for exercise in exercises), "total", "of", "review", "notes"])
    for student, row in sorted(rows.items()):
        earned = [row.points.get(exercise.number, "") for exercise in exercises]
        total = sum(points for points in earned if points != "")
        notes = "; ".join(row.notes)
        review = "yes" if row.review else ""
        writer.writerow([cell(student), *map(cell, earned), cell(total), cell(best), review, cell(notes, 1_000)])
    return out.getvalue()
