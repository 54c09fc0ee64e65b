"""One honest notebook of odd form: what it is made from, and what is expected of it."""

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import handed_in

STEMS = {path.name[:2]: path.stem for path in sorted((handed_in.ROOT / "exercises").glob("[0-9]*.ipynb"))}
NOTEBOOKS: dict[str, "HonestNotebook"] = {}


@dataclass(frozen=True)
class HonestNotebook:
    """A notebook that earns full marks, but for what it lacks, when all its cells are run in JupyterLab."""

    name: str  # what is odd about it
    lesson: str  # whose exercises it holds
    make: Callable[[dict], dict | bytes | None]  # changes the solved notebook, or returns another one, or the file
    label: str = "notebook.ipynb"
    quick: bool = False  # whether it is in the sample that every run of the tests takes
    restored: bool = False  # whether the result may say that something else than answers differs
    lacks: frozenset[str] = frozenset()  # exercises that are not in it, or fail in JupyterLab too

    def file(self) -> bytes:
        """What is handed in."""
        notebook = handed_in.solved(STEMS[self.lesson])
        made = self.make(notebook)
        return made if isinstance(made, bytes) else handed_in.as_bytes(made or notebook)


def honest(lesson: str = "01", **choices: object) -> Callable:
    """Register the decorated function as the ``make`` of an honest notebook of its name."""

    def register(make: Callable) -> Callable:
        add(make.__name__, lesson, make, **choices)
        return make

    return register


def add(name: str, lesson: str, make: Callable, **choices: object) -> None:
    """Register an honest notebook."""
    assert name not in NOTEBOOKS, name
    NOTEBOOKS[name] = HonestNotebook(name, lesson, make, **choices)


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
