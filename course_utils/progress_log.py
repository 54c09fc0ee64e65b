"""What a student has done, in one small JSON file on the student's own machine: exercises passed, predictions made.

Entries are made only where a person runs a notebook: JupyterLab and its kin name the cell that they run, or pass a click on;
nbval, the build and graders do neither. ``ATTENTION_COURSE_PROGRESS`` names another file, or is ``off``. Each entry replaces
the file as a whole, so two open notebooks keep each other's; of two entries within the same milliseconds one may be lost.
"""

import contextlib
import html
import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from .files import write_whole

VARIABLE = "ATTENTION_COURSE_PROGRESS"
VERSION = 1
TOUR = {"0.3", "1.1", "2.1", "4.1", "5.2", "6.1", "13.1", "13.9"}  # tasks of the quick tour: alone they begin no lesson
# The id of a cell in section 0.2 of a lesson begins with "0-2-"; no check's does, and no student's own.
LESSON_CELL = re.compile(r"\d{1,2}-\d{1,2}-")

Entry = Mapping[str, str]
Entries = dict[str, dict[str, Entry]]  # "passed" or "predictions" -> number of the exercise or prediction -> its entry

_NOTED: Entries = {"passed": {}, "predictions": {}}  # by this kernel, and in no file yet


class NotKept(Exception):
    """There is no file for progress here; the message completes "Nothing is kept: ..."."""


class Display:
    """A text, and the HTML that notebooks show in its place."""

    def __init__(self, text: str, page: str) -> None:
        self.text, self.page = text, page

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.page


def passed(number: str) -> None:
    """Note that an exercise was passed just now, but not where a lesson shows what that looks like."""
    if not LESSON_CELL.match(_message().get("metadata", {}).get("cellId") or ""):
        now = _now()
        _note("passed", number, {"first": now, "last": now})


def predicted(name: str, question: str, guess: str, came_out: str) -> None:
    """Note a prediction: what was asked, what was guessed, and what came out so far."""
    _note("predictions", name, {"when": _now(), "question": question, "guess": guess, "came_out": came_out})


def show(lesson: int | None = None) -> Display:
    """The progress of all lessons, or of one (a ValueError: there is none) exercise by exercise; and what comes next."""
    lessons = _lessons()
    if lesson is not None and lesson not in lessons:
        raise ValueError(f"there is no lesson {lesson!r}: {', '.join(map(str, lessons))}")
    entries = _NOTED
    try:
        path = _path()
        entries = _read(path)
        line = f"Kept in {_short(path)}, on this machine only."
        if any(_NOTED.values()):
            _write(path, entries)
            _forget()
    except NotKept as reason:
        line = f"Nothing is kept: {reason}."
    except OSError as problem:
        line = f"Nothing is kept beyond this run: {_short(path)} cannot be written ({problem.strerror or problem})."
    following = _next(lessons if lesson is None else {lesson: lessons[lesson]}, entries["passed"])
    if not any(entries.values()):
        return _display([], f"No progress yet. {following} {line}")
    tables = [_all_lessons(lessons, entries)] if lesson is None else _one_lesson(lesson, lessons[lesson], entries)
    return _display(tables, f"{following} {line}")


def start_over() -> Display:
    """Put the file aside, so that everything counts from nothing; the old one stays beside it."""
    try:
        aside = _set_aside(_path(), "until")
    except FileNotFoundError:
        _forget()
        return _display([], "There was nothing to put aside.")
    except (NotKept, OSError) as reason:
        return _display([], f"Nothing was put aside: {reason}.")
    _forget()
    return _display([], f"Begun anew. What there was is kept in {_short(aside)}.")


def _note(kind: str, name: str, entry: Entry) -> None:
    """Whatever hinders that never hinders the exercise; ``show`` meets the same problem, and says so."""
    with contextlib.suppress(Exception):
        if _a_person_runs_this() and not _is_off():
            _add(_NOTED, {kind: {name: entry}})
            path = _path()
            _write(path, _read(path))
            _forget()


def _forget() -> None:
    for entries in _NOTED.values():
        entries.clear()


def _path() -> Path:
    """The file.

    Raises:
        NotKept: There is none here.
    """
    if not _a_person_runs_this():
        raise NotKept("only a notebook page that you work in keeps progress")
    if _is_off():
        raise NotKept(f"{VARIABLE} is off")
    setting = os.environ.get(VARIABLE, "").strip()
    if "google.colab" in sys.modules and not setting:
        raise NotKept(f"Colab forgets its files; set {VARIABLE} to a file on your Drive")
    try:
        home = Path.home()
        path = home / Path(setting).expanduser() if setting else home / ".attention-course" / "progress.json"
    except RuntimeError:
        raise NotKept("there is no home folder") from None
    return path / "progress.json" if os.path.isdir(path) else path


def _is_off() -> bool:
    return os.environ.get(VARIABLE, "").strip().lower() in ("off", "no", "0", "false")


def _a_person_runs_this() -> bool:
    """Whether what runs now was asked for by a page: it names its cell, or it is a click on a widget."""
    message = _message()
    clicked = message.get("header", {}).get("msg_type") == "comm_msg"
    return clicked or bool(message.get("metadata", {}).get("cellId"))


def _message() -> dict[str, dict[str, str]]:
    """The request of the page that runs now; empty where there is no page."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    return (shell.get_parent() if hasattr(shell, "get_parent") else None) or {}


def _read(path: Path) -> Entries:
    """The entries of the file and of this kernel. A damaged file is set aside, and a line says so.

    Raises:
        NotKept: A newer edition of the course wrote the file; it stays as it is.
    """
    entries: Entries = {"passed": {}, "predictions": {}}
    damaged = False
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["version"] > VERSION:
            raise NotKept(f"{_short(path)} was written by a newer edition of this course")
        read = [(kind, name, entry) for kind in entries for name, entry in content[kind].items()]
    except FileNotFoundError:
        read = []
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        damaged, read = True, []
    for kind, name, entry in read:
        try:
            _add(entries, {kind: {name: entry}})
        except (ValueError, TypeError, LookupError, OverflowError):
            damaged = True
    if damaged:
        aside = _set_aside(path, "damaged")
        print(f"Your progress file was damaged. It is kept as {_short(aside)}; a new one holds what could be read.")
    _add(entries, _NOTED)
    return entries


def _write(path: Path, entries: Entries) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, json.dumps({"version": VERSION, **entries}, indent=1, sort_keys=True) + "\n")


def _add(entries: Entries, new: Entries) -> None:
    """Add new entries: of an exercise the first and the last time stay, of a prediction the latest."""
    for number, entry in new.get("passed", {}).items():
        known = entries["passed"].get(number, entry)
        first, last = min(known["first"], entry["first"], key=_moment), max(known["last"], entry["last"], key=_moment)
        entries["passed"][number] = {"first": first, "last": last}
    for name, entry in new.get("predictions", {}).items():
        entry = {field: str(entry[field]) for field in ("when", "question", "guess", "came_out")}
        known = entries["predictions"].get(name, entry)
        entries["predictions"][name] = max(entry, known, key=lambda prediction: _moment(prediction["when"]))


def _set_aside(path: Path, why: str) -> Path:
    return path.rename(path.with_name(f"{path.stem}-{why}-{datetime.now():%Y-%m-%d-%H%M%S-%f}{path.suffix}"))


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone()


def _lessons() -> dict[int, dict[str, dict]]:
    """Lesson -> number of the exercise -> what the catalogue says of it."""
    (folder,) = importlib.util.find_spec("course_checks").submodule_search_locations  # looked up, not imported
    lessons: dict[int, dict[str, dict]] = {}
    for number, entry in json.loads((Path(folder) / "catalogue.json").read_text(encoding="utf-8")).items():
        lessons.setdefault(int(number.split(".")[0]), {})[number] = entry
    return lessons


def _of(lesson: int | str, entries: dict[str, Entry]) -> dict[str, Entry]:
    return {name: entry for name, entry in entries.items() if name.split(".")[0] == str(lesson)}


def _all_lessons(lessons: dict[int, dict[str, dict]], entries: Entries) -> list[Sequence[str]]:
    passed, predictions, tour = entries["passed"], entries["predictions"], _of("T", entries["predictions"])
    every = {number: exercise for exercises in lessons.values() for number, exercise in exercises.items()}
    return [
        ("lesson", "core", "exercises", "points", "last day", "predictions"),
        *(_sums(f"{lesson:02d}", exercises, passed, _of(lesson, predictions)) for lesson, exercises in lessons.items()),
        *([["tour", "", f"{len(TOUR & passed.keys())} of {len(TOUR)}", "", "", str(len(tour))]] if tour else []),
        _sums("all", every, passed, predictions),
    ]


def _sums(name: str, exercises: dict[str, dict], passed: dict[str, Entry], predictions: dict[str, Entry]) -> list[str]:
    done = {number: entry for number, entry in passed.items() if number in exercises}
    points, total = (sum(exercises[number]["points"] for number in numbers) for numbers in (done, exercises))
    moments = (entry.get("last") or entry["when"] for entry in (*done.values(), *predictions.values()))
    day = max(moments, key=_moment, default="–")[:10]
    core = [number for number, exercise in exercises.items() if exercise["is_core"]]
    passed_core = sum(number in done for number in core)
    shares = [(passed_core, len(core)), (len(done), len(exercises)), (points, total)]
    return [name, *(f"{part} of {whole}" for part, whole in shares), day, str(len(predictions))]


def _next(lessons: dict[int, dict[str, dict]], passed: dict[str, Entry]) -> str:
    """The exercise to do next: of the short path what follows the one passed last, what was left out before it, the rest."""
    exercises = {number: exercise for of_lesson in lessons.values() for number, exercise in of_lesson.items()}
    begun = [of_lesson for of_lesson in lessons.values() if passed.keys() & of_lesson.keys() - TOUR]
    done = [number for of_lesson in begun for number in of_lesson if number in passed]
    last = max(done, key=lambda number: _moment(passed[number]["last"]), default=None)
    order = list(exercises)
    start = order.index(last) + 1 if last else 0
    left = [number for number in order[start:] + order[:start] if number not in passed]
    if not left:
        return "Every exercise is passed."
    coming = [number for number in left if exercises[number]["is_core"]] or left
    first, minutes = exercises[coming[0]], sum(exercises[number]["minutes"] for number in coming)
    time = f"{minutes} minutes" if minutes < 100 else f"{minutes / 60:.0f} hours"
    path = "the short path's" if first["is_core"] else "the short path is done: the other"
    several = f"; {path} {len(coming)} exercises that are left take about {time}" if len(coming) > 1 else ""
    return f"Next: {coming[0]} · {first['title']} ({first['minutes']} minutes){several}."


def _one_lesson(lesson: int, exercises: dict[str, dict], entries: Entries) -> list[list[Sequence[str]]]:
    done, predictions = entries["passed"], _of(lesson, entries["predictions"])
    rows = [
        (number, exercise["title"], path, minutes, str(exercise["points"]), passed)
        for number, exercise in exercises.items()
        for path, minutes in [("core" if exercise["is_core"] else "more", str(exercise["minutes"]))]
        for passed in [done[number]["first"][:10] if number in done else "–"]
    ]
    guesses = [(name, e["question"], e["guess"], e["came_out"]) for name, e in sorted(predictions.items())]
    tables = [[("", "exercise", "path", "minutes", "points", "first passed"), *rows]]
    return [*tables, [("", "asked", "you predicted", "it came out"), *guesses]] if guesses else tables


def _display(tables: Sequence[Sequence[Sequence[str]]], line: str) -> Display:
    texts = []
    for rows in tables:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)).rstrip() for row in rows)
        texts.append("\n".join(lines))
    return Display("\n\n".join([*texts, line]), "".join(map(html_table, tables)) + f"<p>{html.escape(line)}</p>")


def html_table(rows: Iterable[Sequence[str]]) -> str:
    """A table in HTML; its first row is the header."""
    lines, tag = [], "th"
    for row in rows:
        lines.append("".join(f"<{tag} style='text-align:left'>{html.escape(text)}</{tag}>" for text in row))
        tag = "td"
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _short(path: Path) -> str:
    """With ``~`` for the home folder: a notebook that is handed in says no more of its owner than it must."""
    with contextlib.suppress(ValueError, RuntimeError):
        return str(Path("~") / path.relative_to(Path.home()))
    return str(path)
