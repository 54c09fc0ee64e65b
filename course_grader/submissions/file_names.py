"""What a file's name says: what kind of file it is, and who handed it in."""

import re
import unicodedata

NOTEBOOK = re.compile(r"\.ipynb(\.json|\.txt)?$", re.IGNORECASE)  # browsers add the second ending
ZIP = re.compile(r"\.zip$", re.IGNORECASE)
OTHER_ARCHIVE = re.compile(r"\.(7z|rar|tar|tgz|tbz2?|txz|gz|bz2|xz|zst|lzma)$", re.IGNORECASE)
DOCUMENT = re.compile(r"\.(py|json|txt|html?|pdf|docx?|odt|rtf|md|download)$", re.IGNORECASE)
SKIPPED = {"__MACOSX", "__pycache__", "node_modules"}
MOODLE = re.compile(r"_assignsubmission_file(_.*)?$")
PLATFORM = re.compile(r"_assignsubmission_file_|_\d+_\d{4,}_")  # stands in the names of Moodle's and Canvas's downloads
CANVAS = re.compile(r"^(.+?)(_LATE)?_(\d+)_\d{4,}(_.*)?$")  # name, user, submission (another one for each file), file
COPY = re.compile(r"[ _-]*(\(\d+\)|copy\d*|-\d+)$", re.IGNORECASE)
ENDING = re.compile(r"(\.ipynb|\.tar)?\.[A-Za-z0-9]{1,8}$", re.IGNORECASE)


def is_skipped(name: str) -> bool:
    """Whether a file or folder of this name is none of a student's work: hidden, or made by a program."""
    return name.startswith(".") or name in SKIPPED


def parts_of(name: str) -> tuple[str, ...]:
    """The folders and the file of a name in an archive, without what leads nowhere or out of it."""
    return tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", ".", ".."))


def student_of_folder(name: str) -> str:
    """``Ann Lee_77_assignsubmission_file_`` is the folder of ``Ann Lee_77``."""
    return unicodedata.normalize("NFC", MOODLE.sub("", name))


def student_of_file(name: str, stems: tuple[str, ...] = ()) -> str:
    """``doe_12_34_05_masking-1.ipynb`` was handed in by ``doe_12_34``; of Canvas's numbers the user's stays.

    A file that has no name but a lesson's is called after the lesson; an archive holds the folder that it is called after.
    """
    full = unicodedata.normalize("NFC", ENDING.sub("", name))
    if MOODLE.search(full) or (ZIP.search(name) and not CANVAS.match(full)):
        return student_of_folder(full)
    if canvas := CANVAS.match(full):
        return f"{canvas[1]}_{canvas[3]}"
    plain = COPY.sub("", full)
    for stem in stems:
        if plain.endswith(stem) and plain != stem:
            return plain.removesuffix(stem).rstrip("_- ") or full
    return full


def is_lesson_only(name: str, stems: tuple[str, ...]) -> bool:
    """Whether a file is called as the lesson is, so that its name says nothing of who handed it in."""
    return COPY.sub("", ENDING.sub("", name)) in stems


def looks_handed_in(name: str, stems: tuple[str, ...]) -> bool:
    """Whether a loose file that is neither notebook nor archive is some student's all the same."""
    return bool(DOCUMENT.search(name)) and (bool(PLATFORM.search(name)) or any(stem in name for stem in stems))
