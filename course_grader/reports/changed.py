"""What a run changed: points in ``grades.csv`` before and after it. For a regrade, and for who has seen the old ones."""

import re

from .csv_files import parsed

POINTS = re.compile(r"(\d+\.\d+) points|(lesson \d+)")
HEADER = ("student", "exercise", "before", "after")


def changes(before: bytes, after: bytes) -> list[tuple[str, str, str, str]]:
    """The rows under ``HEADER``: every change of points of an exercise or lesson, of whoever stands in both tables.

    Raises:
        ValueError: The first table is not one any more.
    """
    columns, old_rows = parsed(before, "grades.csv")
    earlier = {row.values.get("student"): row.values for row in old_rows}
    changed = []
    for row in parsed(after, "grades.csv")[1]:
        student = row.values["student"]
        for column in columns if student in earlier else ():
            match = POINTS.fullmatch(column)
            old, new = earlier[student].get(column, ""), row.values.get(column, "")
            if match and _number(old) != _number(new):
                changed.append((student, match[2] or f"exercise {match[1]}", old, new))
    return changed


def _number(text: str) -> float | str:
    """A spreadsheet may have written another form of the same number."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text
