"""Names that strangers chose, made safe: for a file, a line of text."""

import hashlib
import re
import unicodedata

MOST = 120
NAME_BYTES = 60  # of a student's name in a file's name


def printable(text: object, most: int = MOST) -> str:
    """One line, nothing invisible, at most ``most`` characters."""
    line = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in str(text)[: most + 1])
    return line if len(line) <= most else line[: most - 3] + "..."


def counted(count: int, noun: str) -> str:
    """``1 student``, ``2 students``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def file_id(student: str, label: str, lesson: str = "") -> str:
    """A file name for one student's result in one lesson.

    It is readable in every script, safe on every file system (letters, digits and hyphens, at most 80 bytes, no difference that
    only upper and lower case make) and different for different students, files and lessons whatever they are called.
    """
    letters = unicodedata.normalize("NFC", student[:200].lower())
    # letters, marks and numbers
    letters = [letter if unicodedata.category(letter)[0] in "LMN" else "-" for letter in letters]
    plain = re.sub("-+", "-", "".join(letters)).encode()[:NAME_BYTES].decode(errors="ignore").strip("-") or "student"
    whole = "\0".join((student, label, lesson))
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return "-".join(part for part in (plain, lesson if lesson.isdigit() else "", digest) if part)
