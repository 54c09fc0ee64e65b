"""Tables of many runs, one line a result: what was run once is read again, not run again.

An experiment is a module with ``FIELDS``, the names of a row's values, and ``runs(table)``: what must stand in a row for a run
to be there, and a function that makes it. The tables are data of ``course_utils``, whose lessons read them.
"""

import argparse
import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from course_utils.results import path_of, rows_of

Run = tuple[Mapping[str, Any], Callable[[], Iterable[Mapping[str, Any]]]]


def append_rows(path: Path, fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows at the end of a table, under a line with the names of the fields."""
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        if not file.tell():
            writer.writeheader()
        writer.writerows(rows)


def make_missing(path: Path, fields: Sequence[str], runs: Iterable[Run]) -> None:
    """Make each run of which the table holds no row yet, and write its rows; say which run was made."""
    for wanted, run in runs:
        if any(belongs(row, wanted) for row in rows_of(path)):
            continue
        append_rows(path, fields, list(run()))
        print(", ".join(f"{name} {value}" for name, value in wanted.items()), "done", flush=True)


def belongs(row: Mapping[str, str], wanted: Mapping[str, Any]) -> bool:
    """Whether a row of a table is one of the run that ``wanted`` describes."""
    return all(row[name] == str(value) for name, value in wanted.items())


def main(name: str, arguments: Sequence[str]) -> int:
    """Make the runs that an experiment's table lacks."""
    experiment = import_module(f"experiments.{name}")
    table = path_of(name)
    purpose = (experiment.__doc__ or "").split(": ``")[0]
    parser = argparse.ArgumentParser(prog=f"python -m experiments {name}", description=f"{purpose}.")
    parser.add_argument("--table", type=Path, default=table, help=f"file of the numbers (default: {table.name})")
    parser.add_argument("--threads", type=int, help="CPU threads (default: PyTorch's choice); comparison takes one")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    make_missing(options.table, experiment.FIELDS, experiment.runs(options.table))
    return 0
