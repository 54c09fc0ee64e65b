"""A handed-in notebook: its cells and what it says of itself, read without believing any of it."""

import io
import json

from .rebuild import SubmittedCell

MAX_CELLS = 2_000


class Unreadable(Exception):
    """A file that is no notebook; the message says why, for the student to read."""


def parse(data: bytes) -> tuple[list[SubmittedCell], dict]:
    """The cells of a notebook of format 4 in UTF-8, and its metadata; anything else is ``Unreadable``."""
    if not data.strip():
        raise Unreadable("the file is empty")
    try:
        notebook = json.load(io.StringIO(data.decode("utf-8-sig")))  # editors on Windows write a byte order mark
    except UnicodeDecodeError:
        raise Unreadable("it is not UTF-8 text") from None
    except (ValueError, RecursionError) as problem:
        reason = str(problem)[:100] if isinstance(problem, json.JSONDecodeError) else type(problem).__name__
        raise Unreadable(f"it is not JSON, or only the first part of it ({reason})") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells", notebook.get("worksheets")), list):
        raise Unreadable("it is JSON, but not a notebook")
    version = notebook.get("nbformat")
    if type(version) is not int or version != 4:
        raise Unreadable(f"it is a notebook of format {str(version)[:20]}; expected 4: save it again from Jupyter")
    if len(notebook["cells"]) > MAX_CELLS:
        raise Unreadable(f"it has {len(notebook['cells'])} cells; {MAX_CELLS} is the most")
    metadata = notebook.get("metadata")
    return [_submitted_cell(cell) for cell in notebook["cells"]], metadata if isinstance(metadata, dict) else {}


def _submitted_cell(cell: object) -> SubmittedCell:
    if not isinstance(cell, dict):
        raise Unreadable("one of its cells is not a cell")
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    if not all(isinstance(line, str) for line in lines):
        raise Unreadable("one of its cells has a text that is not text")
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
    kind, cell_id = cell.get("cell_type"), cell.get("id")
    text = "".join(lines).encode("utf-8", "replace").decode()  # half of a surrogate pair can be written in JSON
    return SubmittedCell(*(value if isinstance(value, str) else "" for value in (kind, text, cell_id, grade_id)))
