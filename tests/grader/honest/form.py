"""One honest notebook of odd form: what it is made from, and what is expected of it."""

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import handed_in

STEMS = {path.name[:2]: path.stem for path in sorted((handed_in.ROOT / "exercises").glob("[0-9]*.ipynb"))}
FORMS: dict[str, "Form"] = {}


@dataclass(frozen=True)
class Form:
    """A notebook that earns full marks, but for what it lacks, when all its cells are run in JupyterLab.

    Attributes:
        name: What is odd about it.
        lesson: Whose exercises it holds.
        make: Changes the answered notebook in place, or returns another one, or the file's bytes.
        label: The file's name.
        quick: Whether it is in the sample that every run of the tests takes.
        restored: Whether something else than answers differs from what was handed out, so that the result may say so.
        lacks: Exercises that are not in it, or fail in JupyterLab too.
    """

    name: str
    lesson: str
    make: Callable[[dict], dict | bytes | None]
    label: str = "notebook.ipynb"
    quick: bool = False
    restored: bool = False
    lacks: frozenset[str] = frozenset()

    def file(self) -> bytes:
        """What is handed in."""
        notebook = answered(self.lesson)
        made = self.make(notebook)
        return made if isinstance(made, bytes) else handed_in.as_bytes(made or notebook)


def form(lesson: str = "01", **choices: object) -> Callable:
    """Register the decorated function as the ``make`` of a form of its name."""

    def register(make: Callable) -> Callable:
        add(make.__name__, lesson, make, **choices)
        return make

    return register


def add(name: str, lesson: str, make: Callable, **choices: object) -> None:
    """Register a form."""
    assert name not in FORMS, name
    FORMS[name] = Form(name, lesson, make, **choices)


def answered(lesson: str) -> dict:
    """The exercise notebook with answers as a student writes them: without the builder's markers; each source one string."""
    notebook = handed_in.solved(STEMS[lesson])
    for cell in notebook["cells"]:
        lines = "".join(cell["source"]).split("\n")
        cell["source"] = "\n".join(line for line in lines if line.strip() not in ("# BEGIN SOLUTION", "# END SOLUTION"))
    return notebook


def find(notebook: dict, name: str) -> dict:
    """The cell of that id."""
    return notebook["cells"][handed_in.position(notebook, name)]


def insert(notebook: dict, place: str | int, *texts: str) -> None:
    """Put code cells before the cell of that id, or at that place."""
    start = place if isinstance(place, int) else handed_in.position(notebook, place)
    made = [handed_in.code(dedented(text), f"own-{start}-{number}") for number, text in enumerate(texts)]
    notebook["cells"][start:start] = made


def codes(notebook: dict) -> list[dict]:
    """Its code cells."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def dedented(text: str) -> str:
    """Without the indent that it has in this folder's tables, and without empty lines around it."""
    return textwrap.dedent(text).strip("\n").rstrip()
