"""What students hand in, made for tests: notebooks from the exercise and solution notebooks of the course."""

import copy
import functools
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LESSON_01 = "01_dot_product_similarity"
POINTS_01 = {"1.1": 2, "1.2": 3, "1.3": 3, "1.4": 2, "1.5": 3, "1.6": 3, "1.7": 1, "1.8": 4, "1.9": 3}


def sections(path: Path) -> list[tuple[str, str]]:
    """The parts of a text file, each below a line ``===== header``: (header, text)."""
    parts = path.read_text(encoding="utf-8").split("\n===== ")
    heads = (part.removeprefix("===== ").partition("\n") for part in parts)
    return [(header, text.removesuffix("\n")) for header, _, text in heads]


@functools.cache
def _read(folder: str, stem: str) -> str:
    return (ROOT / folder / f"{stem}.ipynb").read_text(encoding="utf-8")


def blank(stem: str = LESSON_01) -> dict:
    """The exercise notebook as it is handed out, each source one string."""
    notebook = json.loads(_read("exercises", stem))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    return notebook


def answer_ids(notebook: dict) -> list[str]:
    """The ids of its answer cells."""
    return [c["id"] for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("solution")]


def solved(stem: str = LESSON_01, only: set[str] | None = None, **answers: str) -> dict:
    """The exercise notebook with answers put in.

    Args:
        stem: The lesson.
        only: Put the solution into these answer cells only.
        answers: Other texts, by ``answer_1_1`` and so on.
    """
    notebook = blank(stem)
    texts = {cell["id"]: without_marks(cell["source"]) for cell in json.loads(_read("solutions", stem))["cells"]}
    chosen = set(answer_ids(notebook)) if only is None else only
    own = {name.replace("_", "-"): text for name, text in answers.items()}
    for cell in notebook["cells"]:
        if cell["id"] in own:
            cell["source"] = own[cell["id"]]
        elif cell["id"] in chosen:
            cell["source"] = texts[cell["id"]]
    return notebook


def without_marks(source: str | list[str]) -> str:
    """A solution as a student would write it: without the marks that tell that it is the course's own."""
    lines = "".join(source).split("\n")
    return "\n".join(line for line in lines if line.strip() not in ("# BEGIN SOLUTION", "# END SOLUTION"))


def code(text: str, name: str = "extra-1", **metadata: object) -> dict:
    """A code cell."""
    return {
        "cell_type": "code",
        "id": name,
        "metadata": metadata,
        "outputs": [],
        "execution_count": None,
        "source": text,
    }


def with_cell(notebook: dict, text: str, before: str | None = None) -> dict:
    """A copy with one more code cell: at the front, or before the cell of that id."""
    longer = copy.deepcopy(notebook)
    place = 0 if before is None else position(longer, before)
    longer["cells"].insert(place, code(text, f"extra-{place}"))
    return longer


def position(notebook: dict, name: str) -> int:
    """The place of the cell with that id."""
    return next(index for index, cell in enumerate(notebook["cells"]) if cell["id"] == name)


def as_bytes(notebook: object) -> bytes:
    """The file."""
    return json.dumps(notebook).encode()
