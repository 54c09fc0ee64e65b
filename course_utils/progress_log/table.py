"""Progress as a table, of all lessons or of one."""

import contextlib
import html
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path

from . import store
from .store import Entries

Table = tuple[Sequence[str], list[Sequence[str]]]  # header, rows


class Shown:
    """A table as text and as HTML."""

    def __init__(self, text: str, page: str) -> None:
        self.text, self.page = text, page

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.page


def show(lesson: int | None = None) -> Shown:
    """The progress of all lessons, or one lesson exercise by exercise.

    Raises:
        ValueError: There is no such lesson.
    """
    lessons = _lessons()
    if lesson is not None and lesson not in lessons:
        raise ValueError(f"there is no lesson {lesson!r}: {', '.join(map(str, lessons))}")
    entries = store.unwritten()
    try:
        path = store.where()
        entries, problem = store.kept(path)
        line = f"Kept in {_short(path)}, on this machine only."
        if problem is not None:
            line = f"Nothing is kept beyond this run: {_short(path)} cannot be written ({problem.strerror or problem})."
    except store.Unkept as reason:
        line = f"Nothing is kept: {reason}."
    except OSError as problem:
        line = f"Nothing is kept beyond this run: {problem}."
    if not any(entries.values()):
        return _shown([], f"No progress yet. {line}")
    tables = [_of_all(lessons, entries)] if lesson is None else _of_one(lesson, lessons[lesson], entries)
    return _shown(tables, line)


def begin_anew() -> Shown:
    """Put the file aside, so that everything counts from nothing; the old one stays beside it."""
    try:
        aside = store.begin_anew(store.where())
    except (store.Unkept, OSError) as reason:
        return _shown([], f"There was nothing to put aside: {reason}.")
    return _shown(
        [], f"Begun anew. What there was is kept in {_short(aside)}." if aside else "There was nothing to put aside."
    )


def _short(path: Path) -> str:
    """With ``~`` for the home folder: a notebook that is handed in says no more of its owner than it must."""
    with contextlib.suppress(ValueError, RuntimeError):
        return str(Path("~") / path.relative_to(Path.home()))
    return str(path)


def _lessons() -> dict[int, dict[str, dict]]:
    """Lesson -> number of the exercise -> its title and points."""
    (folder,) = importlib.util.find_spec("course_checks").submodule_search_locations  # looked up, not imported
    catalogue = Path(folder) / "catalogue.json"
    found: dict[int, dict[str, dict]] = {}
    for number, entry in json.loads(catalogue.read_text(encoding="utf-8")).items():
        found.setdefault(int(number.split(".")[0]), {})[number] = entry
    return found


def _of(lesson: int, entries: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    return {name: entry for name, entry in entries.items() if name.split(".")[0] == str(lesson)}


def _day(moments: Sequence[str]) -> str:
    return max(moments, key=store.moment)[:10] if moments else "–"


def _of_all(lessons: dict[int, dict[str, dict]], entries: Entries) -> Table:
    rows, sums = [], [0, 0, 0, 0, 0]
    for lesson, exercises in lessons.items():
        done = {number: entry for number, entry in _of(lesson, entries["passed"]).items() if number in exercises}
        guesses = _of(lesson, entries["predictions"])
        points = [sum(exercises[number]["points"] for number in numbers) for numbers in (done, exercises)]
        counts = [len(done), len(exercises), *points, len(guesses)]
        sums = [a + b for a, b in zip(sums, counts, strict=True)]
        rows.append(_row(f"{lesson:02d}", counts, _day([e["last"] for e in done.values()] + _moments(guesses))))
    every = [entry["last"] for entry in entries["passed"].values()] + _moments(entries["predictions"])
    return ("lesson", "exercises", "points", "last day", "predictions"), [*rows, _row("all", sums, _day(every))]


def _moments(predictions: dict[str, dict[str, str]]) -> list[str]:
    return [entry["when"] for entry in predictions.values()]


def _row(name: str, counts: Sequence[int], day: str) -> Sequence[str]:
    done, exercises, points, of_points, guesses = counts
    return name, f"{done} of {exercises}", f"{points} of {of_points}", day, str(guesses)


def _of_one(lesson: int, exercises: dict[str, dict], entries: Entries) -> list[Table]:
    done = _of(lesson, entries["passed"])
    rows = [
        (number, entry["title"], str(entry["points"]), done[number]["first"][:10] if number in done else "–")
        for number, entry in exercises.items()
    ]
    guesses = [
        (name, entry["question"], entry["guess"], entry["came_out"])
        for name, entry in sorted(_of(lesson, entries["predictions"]).items())
    ]
    tables: list[Table] = [(("", "exercise", "points", "first passed"), rows)]
    return tables + ([(("", "asked", "you predicted", "it came out"), guesses)] if guesses else [])


def _shown(tables: Sequence[Table], line: str) -> Shown:
    texts, pages = [], []
    for header, rows in tables:
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        lines = [
            "  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)).rstrip() for row in (header, *rows)
        ]
        texts.append("\n".join(lines))
        cells = [_cells("th", header), *(_cells("td", row) for row in rows)]
        pages.append(f"<table>{''.join(cells)}</table>")
    return Shown("\n\n".join([*texts, line]), "".join([*pages, f"<p>{html.escape(line)}</p>"]))


def _cells(kind: str, texts: Sequence[str]) -> str:
    cells = "".join(f"<{kind} style='text-align:left'>{html.escape(text)}</{kind}>" for text in texts)
    return f"<tr>{cells}</tr>"
