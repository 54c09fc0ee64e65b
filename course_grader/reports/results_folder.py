"""The output folder: every file whole or absent, whatever happens; results found again by a second run."""

import contextlib
import hashlib
import json
import secrets
from pathlib import Path

from course_utils.files import UNFINISHED, write_whole

from ..names import file_id
from .class_settings import ClassOptions

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

FOLDERS = {"results": "json", "feedback": "html"}  # with the ending of their files
FILES = "grades.csv review.csv changed.csv overrides.csv report.html class.json submissions.json run.json".split()


class StoredResults:
    """What was graded into an output folder, to be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, kind: str, student: str, label: str, lesson: str = "") -> Path:
        """Where the result of one file of one student for one lesson belongs, or the page (``feedback``)."""
        return self.folder / kind / f"{file_id(student, label, lesson)}.{FOLDERS[kind]}"

    def result(self, student: str, label: str, lesson: str = "") -> dict | None:
        """The stored result; None if there is none, or none that is whole."""
        return _read(self.path("results", student, label, lesson))


class ResultsFolder(StoredResults):
    """What was graded, in a folder that no other grader writes to meanwhile; made if it is not there.

    Without a ``seed`` of the inputs it is the one that an earlier run left here, else a new one.
    """

    def __init__(self, folder: Path, seed: str | None = None, options: ClassOptions | None = None) -> None:
        check_output(folder)
        for part in FOLDERS:
            (folder / part).mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as until_it_is_made:
            self._lock = until_it_is_made.enter_context(open(folder / ".lock", "w"))
            try:
                if fcntl is not None:
                    fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RuntimeError(f"output ({folder}): another grader is at work there; wait for its end") from None
            for left in folder.rglob(f"{UNFINISHED}*"):  # of a run that was killed
                left.unlink()
            super().__init__(folder)
            self.options = options or ClassOptions()
            self.seed = seed or self._earlier_seed() or secrets.token_hex(16)
            write_whole(folder / "run.json", json.dumps({"seed": self.seed}, indent=1) + "\n")
            until_it_is_made.pop_all()  # held as long as the results

    def close(self) -> None:
        """Let another run have the folder."""
        self._lock.close()

    def store(self, student: str, label: str, result: dict, page: str, lesson: str = "") -> None:
        """Write the page, then the result: where there is a result, its page is there too."""
        self.store_page(student, label, page, lesson)
        stored = result | {"digest": _digest(result)}
        write_whole(self.path("results", student, label, lesson), json.dumps(stored, indent=1) + "\n")

    def store_page(self, student: str, label: str, page: str, lesson: str = "") -> None:
        """Write a student's page, unless it stands there already."""
        path = self.path("feedback", student, label, lesson)
        if not path.is_file() or path.read_bytes() != page.encode():
            write_whole(path, page)

    def _earlier_seed(self) -> str | None:
        path = self.folder / "run.json"
        results = sorted((self.folder / "results").glob("*.json"))
        if not path.exists() and not results:
            return None
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            seed = json.loads(path.read_text(encoding="utf-8"))["seed"]
            if isinstance(seed, str) and seed:
                return seed
        seeds = (result["seed"] for path in results if (result := _read(path)))
        known = next(seeds, "SEED, as it stands in results/*.json")
        raise ValueError(
            f"output ({self.folder}): run.json is damaged or gone; expected the seed of the inputs there. "
            f"Go on with --seed {known}, or grade into a new folder"
        )


def check_output(folder: Path, submissions: Path | None = None) -> None:
    """See that results can go into a folder, and that it is not the submissions' own, before anything is written."""
    if submissions is not None and folder.resolve() == submissions.resolve():
        raise ValueError(f"--output ({folder}) is the folder of the submissions; expected another one, such as grades")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"output ({folder}): a file of that name is in the way; expected a folder, or nothing")
    for name in (*FILES, *FOLDERS):
        kind, other = ("folder", "file") if name in FOLDERS else ("file", "folder")
        if (folder / name).exists() and (folder / name).is_dir() != (kind == "folder"):
            raise ValueError(f"output ({folder}): {name} is a {other}; expected a {kind}, or nothing: move it away")


def _read(path: Path) -> dict | None:
    """A result as it was stored; None where anything of it is damaged."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        return result if result.pop("digest") == _digest(result) else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _digest(result: dict) -> str:
    return hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()
