"""Names that strangers chose, made safe: for a file, a table cell, a line of text."""

import hashlib
import re
import unicodedata

MOST = 120
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet runs what begins so


def printable(text: object, most: int = MOST) -> str:
    """One line, nothing invisible, at most ``most`` characters."""
    line = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in str(text)[: most + 1])
    return line if len(line) <= most else line[: most - 3] + "..."


def file_id(student: str, label: str) -> str:
    """A file name for one student's result: readable, and different for different students whatever they are called."""
    plain = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-")[:40].lower() or "student"
    digest = hashlib.sha256(f"{student}\0{label}".encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{plain}-{digest}"


def cell(value: object, most: int = MOST) -> str:
    """A table cell that no spreadsheet takes for a formula. Numbers stay numbers."""
    if isinstance(value, int | float):
        return f"{value:g}"
    text = printable(value, most)
    return "'" + text if text.lstrip().startswith(FORMULA) else text
