"""A copy of the notebooks to work in: ``python -m course_utils.own_copy`` lays it out in the folder ``my``.

What you type, and what JupyterLab saves by itself, then changes no file that belongs to the course, and ``git pull`` finds
nothing in its way. Links between notebooks lead from copy to copy. A copy holds no outputs: what a cell prints is not there to
be read before it is predicted. A copy that was changed is never overwritten; one that is still as it was laid out makes way for
a newer version.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

from course_utils.files import replacing, write_whole

OWN = "my"
NOTEBOOKS = ("notebooks/*.ipynb", "exercises/*.ipynb")
READ_ONLY = ("docs/glossary.md",)  # what notebooks link to and nobody writes in: always the newest
RECORD = ".copied.json"  # file -> SHA-256 of the copy as it was laid out


def copy_notebooks(course: Path) -> tuple[list[str], list[str]]:
    """Add to the folder ``my`` of a course every notebook that it lacks, and renew copies that nobody has changed.

    Args:
        course: The folder that holds ``notebooks`` and ``exercises``.

    Returns:
        Names of what was copied now, and of the changed copies whose original has changed too: those stay as they are.

    Raises:
        FileNotFoundError: There are no notebooks in ``course``.
    """
    originals = [path for pattern in NOTEBOOKS for path in sorted(course.glob(pattern))]
    if not originals:
        raise FileNotFoundError(
            f"course ({course}) holds no notebooks/*.ipynb; expected the folder of the course: change to it first"
        )
    record = _read(course / OWN / RECORD)
    added, outdated = [], []
    for path in originals:
        name = path.relative_to(course).as_posix()
        content = _without_outputs(path)
        seen, own = hashlib.sha256(content).hexdigest(), course / OWN / name
        untouched = own.exists() and hashlib.sha256(own.read_bytes()).hexdigest() == record.get(name) != seen
        if not own.exists() or untouched:
            _write(own, content)
            record[name] = seen
            added.append(name)
        elif record.get(name, seen) != seen:
            outdated.append(name)
    for name in READ_ONLY:
        _write(course / OWN / name, (course / name).read_bytes())
    write_whole(course / OWN / RECORD, json.dumps(record, indent=1))
    return added, outdated


def main(arguments: list[str] | None = None) -> int:
    """Copy what is missing and say so; returns the process's exit status: 1 if there is nothing to copy."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.own_copy", description=__doc__)
    parser.add_argument("--course", type=Path, default=Path(), help="the folder of the course (default: here)")
    course = parser.parse_args(arguments).course.resolve()
    try:
        added, outdated = copy_notebooks(course)
    except FileNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if added:
        print(f"{len(added)} notebooks copied into {OWN}/: work there, the course's own files stay as they are")
    if outdated:
        print(
            f"newer versions of {', '.join(outdated)}; yours in {OWN}/ were left alone: to get a new one, rename yours"
        )
    return 0


def _without_outputs(path: Path) -> bytes:
    """A notebook as if no cell of it had ever run."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
            cell["metadata"].pop("collapsed", None)
            cell["metadata"].get("jupyter", {}).pop("outputs_hidden", None)
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _read(path: Path) -> dict[str, str]:
    """The record; an empty one where there is none that can be read."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as unfinished:
        unfinished.write_bytes(content)


if __name__ == "__main__":
    sys.exit(main())
