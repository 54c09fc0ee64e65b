"""One handed-in file, and its bytes."""

from dataclasses import dataclass, field
from pathlib import Path

from ..limits import MIB
from . import archive
from .notebook import Unreadable


@dataclass(frozen=True)
class Submission:
    """One file (or the lack of one) of one student."""

    student: str  # who handed it in, as the folder or file is called. Never used as a path
    label: str  # what the file is called, for people
    path: Path | None  # where it lies, or the archive that holds it
    place: int | None = None  # its place in the archive (``archive.Member``)
    problem: str = ""  # why it cannot be read, where that is known already
    modified: float = field(default=0.0, compare=False)  # when it was handed in, in seconds since 1970
    saved: float = field(default=0.0, compare=False)  # as the student's own archive says; for choosing among several


def read(submission: Submission, most_mb: float) -> bytes:
    """The file's bytes, or ``Unreadable``. A file in an archive can be made to take long: call it through ``bounded``."""
    if submission.problem or submission.path is None:
        raise Unreadable(submission.problem or "there is no file")
    most = int(most_mb * MIB)
    try:
        if submission.place is not None:
            data = archive.read_member(submission.path, submission.place, most + 1)
        else:
            with archive.open_regular(submission.path) as file:
                data = file.read(most + 1)
    except (Unreadable, MemoryError):
        raise
    except Exception as problem:  # a damaged archive can bring about any
        why = "the ZIP file around it is damaged" if submission.place is not None else type(problem).__name__
        raise Unreadable(f"it cannot be read: {why}") from None
    if len(data) > most:
        raise Unreadable(f"it is larger than {most_mb:g} MiB; clear its outputs and hand it in again")
    return data
