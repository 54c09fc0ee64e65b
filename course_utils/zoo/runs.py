"""Tables of runs, one line a result, kept beside the models: what was run once is read again, not run again."""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows written so far, as text; empty where there are none."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def append_rows(path: Path, fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows at the end of a table, under a line with the names of the fields."""
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        if not file.tell():
            writer.writeheader()
        writer.writerows(rows)


def make_missing(
    path: Path, fields: Sequence[str], wanted: Mapping[str, Any], run: Callable[[], Iterable[Mapping[str, Any]]]
) -> None:
    """Make one run and write its rows, unless a row of the table holds all that is ``wanted``; say which run was made."""
    told = {name: str(value) for name, value in wanted.items()}
    if any(told.items() <= row.items() for row in read_rows(path)):
        return
    append_rows(path, fields, list(run()))
    print(", ".join(f"{name} {value}" for name, value in told.items()), "done", flush=True)
