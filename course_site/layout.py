"""Lays out what Sphinx reads: notebooks, guides, cards and reference in one folder, under the names they have in the clone.

The names stay, so that the links between notebooks and guides lead where they lead in the clone.
"""

import importlib.util
import shutil
from pathlib import Path

import nbformat

from course_authoring.dependencies import ADDRESS, read_record
from course_authoring.execute import WIDGET_STATE

from .live_data import write_live_page
from .mistakes import mistakes_page
from .notebooks import for_site, widget_place
from .reference import write_reference
from .sheet import sheet_page, write_sheet
from .slides import slides_page, write_slides
from .try_it import list_of_questions

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
COPIED = ("docs/teaching.md", "docs/grading-times.md", "docs/glossary.md", "docs/nbgrader_config.py", "CONTRIBUTING.md")
FOLDERS = ("notebooks", "exercises")


def lay_out(folder: Path) -> None:
    """Make ``folder`` anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE / "pages", folder)
    shutil.copytree(HERE / "static", folder / "_static")
    for name in COPIED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    address = read_record(ROOT).get(ADDRESS)
    for kind in FOLDERS:
        _notebooks(kind, folder, address)
    with (folder / "exercises" / "index.md").open("a", encoding="utf-8") as index:
        index.write(list_of_questions(sorted(path.stem for path in (ROOT / "exercises").glob("*.ipynb"))))
    _put_see_through_on(folder / "index.md")
    for card in sorted((ROOT / "course_utils" / "pretrained" / "data").glob("*.md")):
        shutil.copyfile(card, folder / "models" / card.name)
    write_reference(ROOT / "course_utils", folder / "reference")
    (folder / "docs" / "checks.md").write_text(mistakes_page(), encoding="utf-8")
    (folder / "_static" / "widgets").mkdir()
    for module in sorted((ROOT / "course_utils" / "widgets" / "modules").glob("*.js")):
        shutil.copyfile(module, folder / "_static" / "widgets" / module.name)
    (folder / "_static" / "mathjax").mkdir()
    shutil.copyfile(_mathjax(), folder / "_static" / "mathjax" / "tex-svg.js")
    write_live_page(folder / "extra" / "live")
    (folder / "docs" / "slides.md").write_text(slides_page(write_slides(folder / "extra" / "slides")), encoding="utf-8")
    (folder / "docs" / "cheat-sheet.md").write_text(
        sheet_page(write_sheet(folder / "extra" / "sheet", back="../index.html")), encoding="utf-8"
    )


def _notebooks(kind: str, folder: Path, address: str | None) -> None:
    (folder / kind).mkdir(exist_ok=True)
    (folder / "extra" / "downloads" / kind).mkdir(parents=True)
    for path in sorted((ROOT / kind).glob("*.ipynb")):
        shutil.copyfile(path, folder / "extra" / "downloads" / kind / path.name)  # as a student opens it
        notebook = for_site(nbformat.read(path, as_version=4), f"{kind}/{path.name}", address)
        nbformat.write(notebook, folder / kind / path.name)


def _put_see_through_on(front: Path) -> None:
    """The first moving picture of lesson 04 stands on the front page as well, with the numbers that it has there."""
    lesson = nbformat.read(ROOT / "notebooks" / "04_scaled_dot_product_attention.ipynb", as_version=4)
    outputs = [output for cell in lesson.cells for output in cell.get("outputs", ())]
    states = [output.get("metadata", {}).get(WIDGET_STATE) for output in outputs]
    state = next(state for state in states if state and state["module"] == "see_through")
    text = front.read_text(encoding="utf-8")
    front.write_text(text.replace("SEE_THROUGH", widget_place(state)), encoding="utf-8")


def _mathjax() -> Path:
    """MathJax with its fonts in one file, as the package ``sphinx-mathjax-offline`` brings it."""
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    if spec is None:
        raise SystemExit("MathJax is missing; pip install -c constraints.txt -e '.[site]'")
    return Path(spec.origin).parent / "static" / "mathjax" / "tex-svg.js"
