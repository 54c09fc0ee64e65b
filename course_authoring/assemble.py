"""From a parsed source to notebooks that are not yet run: cells, stable ids, metadata. No clock, no chance, no disk."""

import re
import unicodedata

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from .links import Outline, placeholders
from .source import HEADING, Cell, Source
from .student import require_no_leak, split_solution, student_text

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}( · )?")  # with what sets it apart from the next, which goes where it is empty
ASKED, ANSWERED = (re.compile(rf'\b{name}\(\s*"([\w.]+)"') for name in ("predict", "came_out"))
PLACEHOLDER_IN_CODE = re.compile(r"^# \{\{\w+\}\}$", re.MULTILINE)
INSTALL_ID = "colab-install"
# In JupyterLab the cell is collapsed by its metadata, in Colab by the title. It leaves `sys` to those who need it.
COLAB_INSTALL = """#@title In Colab, this cell installs the course. Anywhere else it does nothing.
from sys import executable, modules

if "google.colab" in modules:  # keep Colab's own PyTorch
    from subprocess import run

    run([executable, "-m", "pip", "install", "--quiet", "git+{address}"], check=True)
"""


def assemble(source: Source, outline: Outline) -> dict[str, NotebookNode]:
    """All notebooks that one source yields, not yet executed.

    Args:
        source: The parsed source.
        outline: The public address and the other notebooks, for links and the Colab cell; without an address there is none.

    Returns:
        Path relative to the project -> notebook: one for a lesson, ``solutions/`` and ``exercises/`` for exercises,
        ``solutions/`` and ``notebooks/`` for a tour.
    """
    if source.kind == "lesson":
        path = f"notebooks/{source.stem}.ipynb"
        return {path: _notebook(source, outline, path)}
    require_no_leak(source)
    released = f"{'notebooks' if source.kind == 'tour' else 'exercises'}/{source.stem}.ipynb"
    return {
        f"solutions/{source.stem}.ipynb": _notebook(source, outline, released, audience="solution"),
        released: _notebook(source, outline, released, audience=source.kind),
    }


def _notebook(source: Source, outline: Outline, badge_path: str, audience: str = "lesson") -> NotebookNode:
    ids = _Ids()
    cells = []
    roles = {id(cell): (role, exercise) for exercise in source.exercises for role, cell in _roles(exercise)}
    first_code = next((cell for cell in source.notebook_cells if cell.kind == "code"), None)
    known = placeholders(source, outline, badge_path)
    spoils = _spoiling(source)
    for cell in source.notebook_cells:
        if cell is first_code and outline.address:
            cells.append(_install_cell(outline.address))
        ids.enter(cell)
        role, exercise = roles.get(id(cell), (None, None))
        if audience == "exercise" and "solution" in cell.tags:
            ids.next(None)  # keeps the ids of the cells after it the same in both notebooks
            continue
        text = student_text(source, cell) if audience in ("exercise", "tour") else cell.text
        if audience == "solution":
            split_solution(source, cell)
        if cell.kind == "markdown":
            text = _fill(source, cell, text, known)
        elif stray := PLACEHOLDER_IN_CODE.search(text):
            raise source.error(f"{stray.group()!r} in code: only Markdown has placeholders", cell)
        cell_id = ids.next(role and f"{role}-{exercise.number.replace('.', '-')}")
        new = new_code_cell if cell.kind == "code" else new_markdown_cell
        goes_on = ("raises-exception",) if audience == "tour" and "check" in cell.tags else ()  # a run of all reads on
        metadata = {"tags": [*cell.tags, *goes_on]} if cell.tags else {}
        if "whole" in cell.tags:
            metadata["jupyter"] = {"source_hidden": True}  # folded: long, and for those who have done the exercises
        if id(cell) in spoils:  # folded until the cell is run; JupyterLab writes both, so that saving changes nothing
            metadata |= {"collapsed": True, "jupyter": {**metadata.get("jupyter", {}), "outputs_hidden": True}}
        if exercise is not None:
            metadata["nbgrader"] = _nbgrader(cell_id, exercise.points if role == "check" else None)
        cells.append(new(text, id=cell_id, metadata=metadata))
    course = {
        "built_from": source.path,
        "note": "Built by `make build`: edit the source, not this notebook.",
        "kind": audience,
    }
    if source.exercises:
        course["points"] = {exercise.number: exercise.points for exercise in source.exercises}
        course["total_points"] = sum(exercise.points for exercise in source.exercises)
    metadata = {"kernelspec": dict(KERNELSPEC), "language_info": {"name": "python"}, "course": course}
    return new_notebook(cells=cells, metadata=metadata, nbformat_minor=5)


def _spoiling(source: Source) -> set[int]:
    """The ``id`` of each code cell between a question and what comes out: a stored output would tell before one has guessed."""
    cells, asked, spoiling = source.notebook_cells, {}, set()
    for place, cell in enumerate(cells):
        asked |= dict.fromkeys(ASKED.findall(cell.text), place)
        for name in ANSWERED.findall(cell.text):
            first = asked.get(name, place) + 1
            spoiling |= {id(one) for one in cells[first : place + 1] if one.kind == "code"}
    return spoiling


def _roles(exercise):
    for cell in exercise.answers:
        yield ("quiz" if "quiz" in cell.tags else "answer"), cell
    yield "check", exercise.check


def _nbgrader(grade_id: str, points: int | None) -> dict:
    """nbgrader's own metadata, schema version 3: an answer cell, or (with points) a locked, graded check cell."""
    is_check = points is not None
    metadata = {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": is_check,
        "solution": not is_check,
        "locked": is_check,
        "task": False,
    }
    if is_check:
        metadata["points"] = points
    return metadata


def _install_cell(address: str) -> NotebookNode:
    metadata = {"jupyter": {"source_hidden": True}, "cellView": "form"}
    return new_code_cell(COLAB_INSTALL.format(address=address).rstrip("\n"), id=INSTALL_ID, metadata=metadata)


def _fill(source: Source, cell: Cell, text: str, known: dict[str, str]) -> str:
    def value(match: re.Match) -> str:
        if match.group(1) not in known:
            raise source.error(
                f"nothing to put for {{{{{match.group(1)}}}}}; here there is {', '.join(sorted(known))}", cell
            )
        value = known[match.group(1)]
        return value + (match.group(2) or "") if value else ""

    return PLACEHOLDER.sub(value, text)


class _Ids:
    """Stable cell ids: the role and number of an exercise cell, else the section's name and the place in it."""

    def __init__(self) -> None:
        self.section, self.used = "start", {}

    def enter(self, cell: Cell) -> None:
        if cell.kind == "markdown" and (heading := HEADING.match(cell.text)):
            plain = unicodedata.normalize("NFKD", heading.group(2)).encode("ascii", "ignore").decode().lower()
            self.section = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-") or "section"

    def next(self, name: str | None) -> str:
        base = name or self.section
        self.used[base] = self.used.get(base, 0) + 1
        if name and self.used[base] == 1:
            return base
        return f"{base}-{self.used[base]}"
