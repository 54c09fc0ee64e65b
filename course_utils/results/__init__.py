"""Tables of many runs that lessons read; the scripts in ``experiments/`` make them."""

import csv
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def path_of(name: str) -> Path:
    """The file of a table that comes with the course."""
    return FOLDER / f"{name}.csv"


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a table's file, as text; empty where there is none."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_rows(name: str) -> list[dict[str, str]]:
    """The rows of a table that comes with the course, as text.

    Raises:
        ValueError: There is no such table.

    Example:
        >>> read_rows("ablation")[0]["variant"]
        'full'
    """
    path = path_of(name)
    if not path.exists():
        names = ", ".join(sorted(file.stem for file in FOLDER.glob("*.csv")))
        raise ValueError(f"name ({name!r}) is not among the tables: {names}")
    return rows_of(path)
