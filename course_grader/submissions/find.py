"""Finding what was handed in, and reading it without believing any of it.

Nothing is unpacked to disk and no name from outside is used as a path: archives are read member by member.
"""

import os
import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from .notebook import Unreadable

MIB = 2**20
MAX_MEMBERS = 50_000
SKIPPED = {".ipynb_checkpoints", "__MACOSX", ".git", "__pycache__"}
MOODLE = re.compile(r"_assignsubmission_file_?$")
COPY = re.compile(r"[ _-]*(\(\d+\)|copy\d*|-\d+)$", re.IGNORECASE)


@dataclass(frozen=True)
class Submission:
    """One file (or the lack of one) of one student.

    Args:
        student: Who handed it in, as the folder or file is called. Never used as a path.
        label: What the file is called, for people.
        path: Where it lies, or the archive that holds it.
        member: Its place in the archive.
        problem: Why it cannot be read, where that is known already.
        modified: For choosing among several.
    """

    student: str
    label: str
    path: Path | None
    member: str | None = None
    problem: str = ""
    modified: float = field(default=0.0, compare=False)


def find_submissions(root: Path, stems: tuple[str, ...] = ()) -> Iterator[Submission]:
    """Every notebook under ``root``, and every student's folder without one.

    Args:
        root: A folder with a folder (or a ZIP, or a notebook) per student, or a ZIP of the same.
        stems: File names of the lessons, such as ``"05_masking"``; taken off the end of file names.

    Raises:
        ValueError: There is nothing at ``root``.
    """
    if root.is_file() and zipfile.is_zipfile(root):
        yield from _archive(root, "", stems)
        return
    if not root.is_dir():
        raise ValueError(f"submissions ({root}): no such folder or ZIP file")
    for entry in sorted(os.scandir(root), key=lambda found: found.name):
        if entry.name in SKIPPED or entry.name.startswith("."):
            continue
        path = Path(entry.path)
        if entry.name.endswith(".ipynb") or entry.is_symlink():
            if entry.name.endswith(".ipynb") or not entry.is_file():
                yield _on_disk(path, _student_of_file(entry.name, stems), entry.name)
        elif entry.is_dir(follow_symlinks=False):
            yield from _folder(path, MOODLE.sub("", entry.name), stems)
        elif entry.name.endswith(".zip") and zipfile.is_zipfile(path):
            yield from _archive(path, MOODLE.sub("", entry.name[:-4]), stems)


def _folder(folder: Path, student: str, stems: tuple[str, ...]) -> Iterator[Submission]:
    count = 0
    for parent, folders, files in os.walk(folder):  # does not follow links
        for name in sorted(folders):
            path = Path(parent, name)
            if name in SKIPPED:
                folders.remove(name)
            elif name.endswith(".ipynb") or (path.is_symlink() and parent == str(folder)):
                folders.remove(name)
                count += 1
                yield _on_disk(path, student, str(path.relative_to(folder)))
        for name in sorted(files):
            path = Path(parent, name)
            label = str(path.relative_to(folder))
            if name.endswith(".ipynb") and not name.startswith("."):
                count += 1
                yield _on_disk(path, student, label)
            elif name.endswith(".zip") and not path.is_symlink() and zipfile.is_zipfile(path):
                found = list(_archive(path, student, stems))
                count += len(found)
                yield from found
    if not count:
        yield Submission(student, "", None, problem="there is no notebook in this folder")


def _on_disk(path: Path, student: str, label: str) -> Submission:
    about = os.lstat(path)
    kinds = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    problem = ""
    if not stat.S_ISREG(about.st_mode):
        problem = f"it is {kinds.get(stat.S_IFMT(about.st_mode), 'a device')}, not a file"
    return Submission(student, label, path, problem=problem, modified=about.st_mtime)


def _archive(path: Path, student: str, stems: tuple[str, ...]) -> Iterator[Submission]:
    """Notebooks in a ZIP. Without a student, they are named by the first folder inside, or by the file."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()[:MAX_MEMBERS]
    except (zipfile.BadZipFile, OSError, ValueError) as problem:
        yield Submission(student or path.stem, path.name, path, problem=f"a ZIP file that cannot be read: {problem}")
        return
    count = 0
    tops = {PurePosixPath(member.filename).parts[0] for member in members if "/" in member.filename}
    single = len(tops) == 1 and all("/" in member.filename for member in members)  # one folder around all of them
    for member in members:
        parts = PurePosixPath(member.filename).parts
        if not member.filename.endswith(".ipynb") or SKIPPED.intersection(parts) or parts[-1].startswith("."):
            continue
        inner = parts[1:] if single and not student and len(parts) > 1 else parts
        owner = student or (MOODLE.sub("", inner[0]) if len(inner) > 1 else _student_of_file(inner[-1], stems))
        modified = float(sum(part * scale for part, scale in zip(member.date_time, _DATE, strict=True)))
        count += 1
        yield Submission(owner, member.filename, path, member=member.filename, modified=modified)
    if student and not count:
        yield Submission(student, path.name, None, problem="there is no notebook in this ZIP file")


_DATE = (32_140_800, 2_678_400, 86_400, 3_600, 60, 1)  # in order, not to scale: months of 31 days


def _student_of_file(name: str, stems: tuple[str, ...]) -> str:
    """``doe_12_34_05_masking-1.ipynb`` was handed in by ``doe_12_34``."""
    full = name.removesuffix(".ipynb")
    plain = COPY.sub("", full)
    for stem in stems:
        if plain.endswith(stem) and plain != stem:
            return plain.removesuffix(stem).rstrip("_- ") or full
    return full


def read(submission: Submission, most_mb: float) -> bytes:
    """The file's bytes.

    Raises:
        Unreadable: It is no regular file, too large, or cannot be read.
    """
    if submission.problem or submission.path is None:
        raise Unreadable(submission.problem or "there is no file")
    most = int(most_mb * MIB)
    try:
        if submission.member is not None:
            with zipfile.ZipFile(submission.path) as archive, archive.open(submission.member) as file:
                data = file.read(most + 1)
        else:
            flags = (
                os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            )
            with os.fdopen(os.open(submission.path, flags), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise Unreadable("it is not a regular file")
                data = file.read(most + 1)
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, KeyError, EOFError, ValueError) as problem:
        raise Unreadable(f"it cannot be read: {type(problem).__name__}") from None
    if len(data) > most:
        raise Unreadable(f"it is larger than {most_mb:g} MiB; clear its outputs and hand it in again")
    return data
