"""CSV files as spreadsheets read and write them."""

import codecs
import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..names import printable

BYTE_ORDER_MARK = "\ufeff"  # without it Excel takes UTF-8 for another encoding, and Chinese names are lost
MOST = 32_000  # characters of a cell; Excel takes 32,767
FORMULA = ("=", "+", "-", "@")  # a spreadsheet runs what begins so
WIDE = str.maketrans({"＝": "=", "＋": "+", "－": "-", "＠": "@"})  # some spreadsheets take these for formulas as well
AFTER_SEPARATOR = re.compile(r";(\s*)(?=[=+\-@])")  # a spreadsheet that separates by semicolons begins a cell there


@dataclass(frozen=True)
class Row:
    """One row of a file that a person wrote: its line, and its values by the header's names in lower case."""

    line: int
    values: dict[str, str]


def safe(value: object) -> str:
    """A cell that no spreadsheet takes for a formula, by an apostrophe in front; numbers stay numbers."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return f"{round(value, 4):g}"
    text = AFTER_SEPARATOR.sub(r";\1'", printable(value, MOST))
    return f"'{text}" if text.lstrip().translate(WIDE).startswith(FORMULA) else text


def written(rows: Iterable[Iterable[object]], for_people: bool = True) -> str:
    """The text of a CSV file; for people with a byte order mark, which a program that imports it may not want."""
    out = io.StringIO()
    csv.writer(out).writerows([safe(value) for value in row] for row in rows)
    return (BYTE_ORDER_MARK if for_people else "") + out.getvalue()


def read(path: Path, what: str) -> tuple[list[str], list[Row]]:
    """What ``parsed`` makes of a file that messages call ``what``."""
    try:
        return parsed(path.read_bytes(), f"{what} ({path})")
    except OSError as problem:
        raise ValueError(f"{what} ({path}): cannot be read: {problem.strerror}; expected a CSV file") from None


def parsed(data: bytes, what: str) -> tuple[list[str], list[Row]]:
    """The header's names in lower case, and the rows of what a person or a learning platform wrote.

    Empty rows and rows that begin with ``#`` are left out. Values may be separated by commas, semicolons or tabs.
    """
    try:
        text = data.decode("utf-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise ValueError(f'{what}: line {line} is not UTF-8; save it as "CSV UTF-8"') from None
    header_line = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    separator = max(",;\t", key=header_line.count)
    header: list[str] | None = None
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        before = 0
        for values in reader:
            line, before = before + 1, reader.line_num
            values = [value.strip() for value in values]
            if not any(values) or values[0].startswith("#"):
                continue
            if header is None:
                header = [value.lower() for value in values]
                continue
            if any(values[len(header) :]):
                raise ValueError(
                    f"{what}, line {line}: {len(values)} values, but the header has {len(header)} names; "
                    'put a text with commas into "quotation marks"'
                )
            rows.append(Row(line, dict(zip(header, values, strict=False))))
    except csv.Error as problem:
        raise ValueError(f"{what}, line {reader.line_num}: not CSV: {problem}") from None
    return header or [], rows
