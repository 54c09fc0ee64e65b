"""The table of grades: a row a student, a column an exercise."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..master import Master
from ..names import cell
from ..submissions.find import Submission
from .results_folder import ResultsFolder


@dataclass
class _Row:
    """What is kept of one student while the table is made."""

    points: dict[str, float] = field(default_factory=dict)
    chosen: dict[str, tuple[float, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    review: bool = False


def table(submissions: Iterable[Submission], results: ResultsFolder, masters: dict[str, Master]) -> str:
    """The class as CSV.

    Of several files of one student for one lesson the newest counts; a note says so.

    Args:
        submissions: Every file of every student.
        results: Where the results are; read one at a time.
        masters: The lessons graded.
    """
    rows: dict[str, _Row] = {}
    lessons: set[str] = set()
    for submission in submissions:
        row = rows.setdefault(submission.student, _Row())
        result = results.result(submission.student, submission.label)
        if result is None:
            row.notes.append(f"{submission.label}: not graded yet")
            continue
        row.review |= result["review"]
        if result["problem"]:
            row.notes.append(f"{submission.label or 'no file'}: {result['problem']}")
            continue
        lesson = result["lesson"]
        lessons.add(lesson)
        mine = (submission.modified, submission.label)
        if lesson in row.chosen:
            older = min(mine, row.chosen[lesson])
            row.notes.append(f"lesson {lesson}: several files, the newest counts, not {older[1]}")
        if lesson not in row.chosen or mine > row.chosen[lesson]:
            row.chosen[lesson] = mine
            row.points.update({one["number"]: one["earned"] for one in result["exercises"]})
        row.notes += [
            f"lesson {lesson}: {line}" for line in (*result["restored"], *result["noticed"], *result["events"])
        ]
    exercises = [e for lesson in sorted(lessons) for e in masters[lesson].exercises.values()]
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
