"""Finding what was handed in: every notebook, and a reason for whatever looks handed in and is none."""

import os
import stat
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..bounded import bounded
from ..names import printable
from . import archive
from .file_names import (
    NOTEBOOK,
    OTHER_ARCHIVE,
    ZIP,
    is_lesson_only,
    is_skipped,
    looks_handed_in,
    parts_of,
    student_of_file,
    student_of_folder,
)
from .notebook import Unreadable
from .submission import Submission

MAX_FILES = 200  # of one student
MAX_WALKED = 20_000  # files and folders in one student's folder
CLASS_S = 60.0  # to read the list of an archive that holds the whole class
STUDENT_S = 20.0  # to read the lists of all archives of one student
ZIP_IN_ZIP = "a ZIP file inside a ZIP file is not read; unpack the outer one, or hand in the notebook itself"
KINDS = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


@dataclass
class FoundFiles:
    """What lies in a folder of submissions."""

    submissions: list[Submission] = field(default_factory=list)  # every file, and every student without one
    left_out: list[str] = field(default_factory=list)  # what was not looked at, and why, for people


def find_submissions(root: Path, stems: tuple[str, ...] = (), output: Path | None = None) -> FoundFiles:
    """Find every notebook under ``root``, every student without one, and whatever else looks handed in.

    ``root`` is a folder with a folder (or a ZIP, or a notebook) per student, or a ZIP of the same; ``stems``, the lessons'
    file names such as ``"05_masking"``, are taken off the end of file names; ``output`` is the grader's own folder.
    """
    search = _Search(stems, output)
    if root.is_file():
        try:
            search.in_archive(_Archive(root, "", root.name, os.stat(root).st_mtime))
        except Unreadable as problem:
            raise ValueError(f"submissions ({root}): expected a folder or a ZIP file; {problem}") from None
    elif root.is_dir():
        for entry in sorted(os.scandir(root), key=lambda entry: entry.name):
            search.in_class(Path(entry.path))
    else:
        raise ValueError(f"submissions ({root}): no such folder or ZIP file")
    return search.files


@dataclass(frozen=True)
class _Archive:
    path: Path  # the file
    student: str  # whose it is; empty where it holds a whole class
    label: str  # what it is called, for people
    modified: float  # its date, in seconds since 1970


class _Search:
    def __init__(self, stems: tuple[str, ...], output: Path | None) -> None:
        self.stems, self.files = stems, FoundFiles()
        self.output = None if output is None else output.resolve()
        self.counts: Counter[str] = Counter()
        self.spent: Counter[str] = Counter()  # seconds, by student

    def is_output(self, path: Path) -> bool:
        return self.output is not None and path.resolve() == self.output

    def add(self, student: str, label: str, path: Path | None, **details: Any) -> None:
        """Take down one file; no student fills the class's memory."""
        self.counts[student] += 1
        if self.counts[student] <= MAX_FILES:
            self.files.submissions.append(Submission(student, label, path, **details))
        elif self.counts[student] == MAX_FILES + 1:
            problem = f"more than {MAX_FILES} files; the others were not looked at"
            self.files.submissions.append(Submission(student, "", None, problem=problem))

    def guarded(self, student: str, label: str, look: Callable[[], None]) -> None:
        """Whatever goes wrong while one thing is looked through stays with its student."""
        try:
            look()
        except Exception as problem:
            known = isinstance(problem, Unreadable)
            why = str(problem) if known else f"it could not be looked through: {type(problem).__name__}: {problem}"
            self.add(student, label, None, problem=printable(why))

    def in_class(self, path: Path) -> None:
        name, mode = path.name, os.lstat(path).st_mode
        if is_skipped(name):
            return
        if self.is_output(path):
            self.files.left_out.append(f"{printable(name)}: the output folder")
        elif stat.S_ISDIR(mode) and not NOTEBOOK.search(name):
            student = student_of_folder(name)
            self.guarded(student, "", lambda: self.in_folder(path, student))
        elif self.is_file_of_student(name) or not (stat.S_ISREG(mode) or path.is_file()):
            student = student_of_file(name, self.stems)
            self.guarded(student, name, lambda: self.file(path, student, name))
        elif looks_handed_in(name, self.stems):
            self.add(student_of_file(name, self.stems), name, None, problem="it is not a notebook (.ipynb)")
        else:
            self.files.left_out.append(f"{printable(name)}: neither notebook, archive nor a student's folder")

    @staticmethod
    def is_file_of_student(name: str) -> bool:
        return any(kind.search(name) for kind in (NOTEBOOK, ZIP, OTHER_ARCHIVE))

    def in_folder(self, folder: Path, student: str) -> None:
        before, walked, others = self.counts[student], 0, []
        for parent, folders, files in os.walk(folder, onerror=_raise):  # does not follow links
            for name in sorted(folders):
                path = Path(parent, name)
                walked += 1
                if self.is_output(path):
                    self.files.left_out.append(f"{printable(path.relative_to(folder.parent))}: the output folder")
                    folders.remove(name)
                elif is_skipped(name):
                    folders.remove(name)
                elif NOTEBOOK.search(name) or (path.is_symlink() and parent == str(folder)):
                    folders.remove(name)
                    self.file(path, student, str(path.relative_to(folder)))
            folders.sort()
            for name in sorted(files):
                walked += 1
                path = Path(parent, name)
                label = str(path.relative_to(folder))
                if self.is_file_of_student(name) and not is_skipped(name):
                    self.guarded(student, label, lambda path=path, label=label: self.file(path, student, label))
                elif not is_skipped(name):
                    others.append(label)
            if walked > MAX_WALKED:
                self.add(student, "", None, problem=f"more than {MAX_WALKED} files and folders; not all looked at")
                break
        if self.counts[student] == before:
            self.add(student, "", None, problem=_no_notebook("folder", others))

    def file(self, path: Path, student: str, label: str) -> None:
        """A notebook or an archive on disk, or what is called like one."""
        about = os.lstat(path)
        if not stat.S_ISREG(about.st_mode):
            kind = KINDS.get(stat.S_IFMT(about.st_mode), "a device")
            self.add(student, label, path, problem=f"it is {kind}, not a file", modified=about.st_mtime)
        elif OTHER_ARCHIVE.search(label):
            self.add(student, label, None, problem=_not_read(label), modified=about.st_mtime)
        elif ZIP.search(label):
            self.in_archive(_Archive(path, student, label, about.st_mtime))
        else:
            self.add(student, label, path, modified=about.st_mtime)

    def members(self, of: _Archive) -> list[archive.Member]:
        """The list of an archive, read in a process with bounds, in the time that is left to this student."""
        started, left = time.monotonic(), (STUDENT_S if of.student else CLASS_S) - self.spent[of.student]
        if left <= 0:
            raise Unreadable("a ZIP file that was not opened: reading the ones before took too long")
        try:
            return bounded(archive.members, of.path, of.modified, seconds=left)
        except Exception as problem:
            raise Unreadable(f"a ZIP file that cannot be read: {printable(problem)}") from None
        finally:
            self.spent[of.student] += time.monotonic() - started

    def in_archive(self, of: _Archive) -> None:
        """A student's archive, or one of a class, whose files are named by the first folder inside or by themselves."""
        before, others = self.counts[of.student], {of.student: []} if of.student else {}
        members = [(member, parts_of(member.name)) for member in self.members(of)]
        members = [(member, parts) for member, parts in members if parts and not any(map(is_skipped, parts))]
        around = not of.student and self._is_wrapped([parts for _, parts in members])
        for member, parts in members:
            inside = parts[1:] if around and len(parts) > 1 else parts
            student = of.student
            if not student:
                student = student_of_folder(inside[0]) if len(inside) > 1 else student_of_file(inside[0], self.stems)
            label = "/".join(parts)
            date = of.modified if of.student else member.modified  # students set the dates in their own archives
            if NOTEBOOK.search(label):
                self.add(student, label, of.path, place=member.place, modified=date, saved=member.modified)
            elif OTHER_ARCHIVE.search(label):
                self.add(student, label, None, problem=_not_read(label), modified=date)
            elif ZIP.search(label):
                self.add(student, label, None, problem=ZIP_IN_ZIP, modified=date)
            elif of.student or len(inside) > 1 or looks_handed_in(parts[-1], self.stems):
                others.setdefault(student, []).append(label)
            else:
                self.files.left_out.append(f"{printable(label)}: neither notebook, archive nor in a student's folder")
        for student, labels in others.items():
            if self.counts[student] == (before if of.student else 0):
                self.add(student, of.label, None, problem=_no_notebook("ZIP file", labels))

    def _is_wrapped(self, names: list[tuple[str, ...]]) -> bool:
        """Whether one folder, which is no student's, stands around all that an archive of a class holds."""
        own = any(len(parts) == 2 and is_lesson_only(parts[1], self.stems) for parts in names)
        return len({parts[0] for parts in names}) == 1 and not own


def _raise(problem: OSError) -> None:
    raise problem


def _not_read(name: str) -> str:
    return f"an archive of a kind that is not read ({printable(Path(name).suffix)}); hand in the notebook or a ZIP file"


def _no_notebook(where: str, others: list[str]) -> str:
    if not others:
        return f"there is no notebook in this {where}, nor anything else"
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    first = ", ".join(printable(name, 40) for name in others[:3])
    return f"there is no notebook in this {where}; it holds {first}{more}"
