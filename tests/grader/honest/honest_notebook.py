"""One honest notebook of odd form: what it is made from, and what is expected of it."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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


def insert(notebook: dict, place: str, text: str) -> None:
    """Put a code cell before the cell of that id."""
    start = handed_in.position(notebook, place)
    notebook["cells"].insert(start, handed_in.code(text, f"own-{start}"))


def codes(notebook: dict) -> list[dict]:
    """Its code cells."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def read(file: str) -> None:
    """Register the parts of a text file, headed ``name lesson`` and maybe ``quick``, ``restored`` or ``lacks:1.9``.

    In a part ``#-- answer-1-1`` stands above that cell's new text, ``#-- before check-1-1`` above a cell more.
    """
    for header, text in handed_in.sections(Path(__file__).with_name(file)):
        name, lesson, *words = header.split()
        lacks = frozenset(word.removeprefix("lacks:") for word in words if word.startswith("lacks:"))
        changes = [change.partition("\n") for change in f"\n{text}".split("\n#-- ")[1:]]
        make = functools.partial(_changed, changes)
        add(name, lesson, make, quick="quick" in words, restored="restored" in words, lacks=lacks)


def _changed(changes: list[tuple[str, str, str]], notebook: dict) -> None:
    for place, _, text in changes:
        if place.startswith("before "):
            insert(notebook, place.removeprefix("before "), text)
        else:
            find(notebook, place)["source"] = text
