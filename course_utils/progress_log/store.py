"""The file: where it is, what is in it, and how two notebooks write it at the same time."""

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from course_utils.files import write_whole

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

VARIABLE = "ATTENTION_COURSE_PROGRESS"
OFF = ("off", "no", "0", "false")
VERSION = 1
# The id of a cell in section 0.2 of a lesson begins with "0-2-"; no check's does, and no student's own.
LESSON_CELL = re.compile(r"\d{1,2}-\d{1,2}-")
PATIENCE_S = 2.0  # for another notebook that is writing
# Kind -> what each of its entries says, all texts, a moment first.
FIELDS = {"passed": ("first", "last"), "predictions": ("when", "question", "guess", "came_out")}

Entries = dict[str, dict[str, dict[str, str]]]  # kind -> number of the exercise or prediction -> field -> text


def _none() -> Entries:
    return {kind: {} for kind in FIELDS}


_UNWRITTEN = _none()  # noted in this kernel, and in no file yet


class Unkept(Exception):
    """Nothing is kept here; the message completes "Nothing is kept: ..."."""


def passed(number: str) -> None:
    """Note that an exercise was passed just now, but not where a lesson shows what that looks like.

    Whatever hinders that never hinders the exercise.
    """
    if LESSON_CELL.match(_message().get("metadata", {}).get("cellId") or ""):
        return
    now = _now()
    _note("passed", number, {"first": now, "last": now})


def predicted(name: str, made: bool, question: str, guess: str, came_out: str) -> None:
    """Note a prediction, if one was made: what was asked, what was guessed, and what came out so far."""
    if made:
        entry = {"when": _now(), "question": question, "guess": guess, "came_out": came_out}
        _note("predictions", name, entry)


def where() -> Path:
    """The file.

    Raises:
        Unkept: There is none here.
    """
    if not _a_person_runs_this():
        raise Unkept("only a notebook page that you work in keeps progress")
    if _is_off():
        raise Unkept(f"{VARIABLE} is off")
    given = os.environ.get(VARIABLE, "").strip()
    if "google.colab" in sys.modules and not given:
        raise Unkept(f"Colab forgets its files; set {VARIABLE} to a file on your Drive")
    try:
        home = Path.home()
        path = home / Path(given).expanduser() if given else home / ".attention-course" / "progress.json"
    except RuntimeError:
        raise Unkept("there is no home folder") from None
    return path / "progress.json" if path.is_dir() else path


def _is_off() -> bool:
    return os.environ.get(VARIABLE, "").strip().lower() in OFF


def _a_person_runs_this() -> bool:
    """Whether what runs now was asked for by a page: it names its cell, or it is a click on a widget."""
    message = _message()
    clicked = message.get("header", {}).get("msg_type") == "comm_msg"
    return clicked or bool(message.get("metadata", {}).get("cellId"))


def _message() -> dict[str, dict[str, str]]:
    """What the page sent that runs now; empty where there is no page."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    return (shell.get_parent() if hasattr(shell, "get_parent") else None) or {}


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _note(kind: str, name: str, entry: dict[str, str]) -> None:
    global _UNWRITTEN
    with contextlib.suppress(Exception):  # ``progress`` meets the same problem, and says so
        if _a_person_runs_this() and not _is_off():
            _UNWRITTEN = _merged(_UNWRITTEN, {**_none(), kind: {name: entry}})
            kept(where())


def unwritten() -> Entries:
    """What was noted in this kernel and is in no file."""
    return _UNWRITTEN


def kept(path: Path) -> tuple[Entries, OSError | None]:
    """All entries, those of this run written to the file as well; and why that did not succeed."""
    global _UNWRITTEN
    entries = _UNWRITTEN
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(path):
            found, damaged = _read(path)
            entries = _merged(found, _UNWRITTEN)
            if damaged:
                aside = _set_aside(path, "damaged")
                print(f"Your progress file was damaged. It is kept as {aside}; a new one holds what could be read.")
            if damaged or entries != found:
                write_whole(path, json.dumps({"version": VERSION, **entries}, indent=1, sort_keys=True) + "\n")
            _UNWRITTEN = _none()
    except OSError as problem:
        return entries, problem
    return entries, None


def _read(path: Path) -> tuple[Entries, bool]:
    """What the file says, and whether it is damaged.

    Raises:
        Unkept: A newer edition of the course wrote it; it stays as it is.
    """
    found, damaged = _none(), False
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return found, False
    except (ValueError, RecursionError):
        return found, True
    if not isinstance(said, dict):
        return found, True
    if isinstance(version := said.get("version"), int) and version > VERSION:
        raise Unkept(f"{path} was written by a newer edition of this course")
    for kind, fields in FIELDS.items():
        part = said.get(kind)
        if not isinstance(part, dict):
            damaged = True
            continue
        for name, entry in part.items():
            if _is_entry(entry, fields):
                found[kind][name] = {field: entry[field] for field in fields}
            else:
                damaged = True
    return found, damaged


def _is_entry(entry: object, fields: Sequence[str]) -> bool:
    if not isinstance(entry, dict) or not all(isinstance(entry.get(field), str) for field in fields):
        return False
    try:
        moments = [datetime.fromisoformat(entry[field]) for field in fields if field in ("first", "last", "when")]
    except ValueError:
        return False
    return all(moment.tzinfo is not None for moment in moments)


def _merged(one: Entries, other: Entries) -> Entries:
    """Both: of an exercise the first and the last time, of a prediction the latest."""
    found = {kind: dict(entries) for kind, entries in one.items()}
    for number, entry in other["passed"].items():
        both = (entry, found["passed"].get(number, entry))
        first, last = min((e["first"] for e in both), key=moment), max((e["last"] for e in both), key=moment)
        found["passed"][number] = {"first": first, "last": last}
    for name, entry in other["predictions"].items():
        had = found["predictions"].get(name)
        if had is None or moment(had["when"]) <= moment(entry["when"]):
            found["predictions"][name] = entry
    return found


def moment(text: str) -> datetime:
    """When an entry was made."""
    return datetime.fromisoformat(text)


def begin_anew(path: Path) -> Path | None:
    """Forget everything but keep the file under another name, which is handed back; None if there was none."""
    global _UNWRITTEN
    with _locked(path):
        aside = _set_aside(path, "until") if path.exists() else None
    _UNWRITTEN = _none()
    return aside


def _set_aside(path: Path, why: str) -> Path:
    """Rename the file to a name that is free."""
    stem = f"{path.stem}-{why}-{datetime.now():%Y-%m-%d-%H%M%S}"
    for count in range(1, 1000):
        aside = path.with_name(f"{stem}{f'-{count}' if count > 1 else ''}{path.suffix}")
        if not aside.exists():
            return path.rename(aside)
    raise FileExistsError(f"too many files {stem}")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time reads and replaces the file. Where no lock can be had the block runs all the same."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # a read-only folder, a file system without locks
            lock = stack.enter_context(open(path.with_name(f"{path.name}.lock"), "ab"))
            until = time.monotonic() + PATIENCE_S
            while not _lock(lock.fileno()) and time.monotonic() < until:
                time.sleep(0.02)
        yield


def _lock(handle: int) -> bool:
    """Whether the lock is ours now; it ends when the file is closed, or its process."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except (BlockingIOError, PermissionError):
        return False
    return True
