"""The output folder: every file whole or absent, whatever happens; results found again by a second run."""

import json
import secrets
from pathlib import Path

from course_utils.files import UNFINISHED, write_whole

from ..names import file_id

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


class ResultsFolder:
    """What has been graded, in a folder.

    Args:
        folder: Made if it is not there.
        seed: Of the inputs; None: the one that an earlier run left here, else a new one.

    Raises:
        RuntimeError: Another grader is at work in this folder.
    """

    def __init__(self, folder: Path, seed: str | None = None) -> None:
        self.folder = folder
        for part in ("results", "feedback"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        self._lock = open(folder / ".lock", "w")  # noqa: SIM115 - held as long as the results
        if fcntl is not None:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self._lock.close()
                raise RuntimeError(f"output ({folder}): another grader is at work in this folder") from None
        for left in folder.rglob(f"{UNFINISHED}*"):  # of a run that was killed
            left.unlink()
        earlier = _read(folder / "run.json") or {}
        self.seed = seed or earlier.get("seed") or secrets.token_hex(16)
        write_whole(folder / "run.json", json.dumps({"seed": self.seed}, indent=1) + "\n")

    def close(self) -> None:
        """Let another run have the folder."""
        self._lock.close()

    def result_path(self, student: str, label: str, lesson: str = "") -> Path:
        """Where the result of one file of one student for one lesson belongs."""
        return self.folder / "results" / f"{file_id(student, label, lesson)}.json"

    def feedback_path(self, student: str, label: str, lesson: str = "") -> Path:
        """Where the student's page belongs."""
        return self.folder / "feedback" / f"{file_id(student, label, lesson)}.html"

    def result(self, student: str, label: str, lesson: str = "") -> dict | None:
        """The stored result; None if there is none, or none that can be read."""
        return _read(self.result_path(student, label, lesson))

    def store(self, student: str, label: str, result: dict, page: str, lesson: str = "") -> None:
        """Write the page, then the result: where there is a result, its page is there too."""
        write_whole(self.feedback_path(student, label, lesson), page)
        write_whole(self.result_path(student, label, lesson), json.dumps(result, indent=1, ensure_ascii=True) + "\n")


def _read(path: Path) -> dict | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
