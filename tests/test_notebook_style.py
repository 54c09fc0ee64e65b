"""The pages that students read, as far as a machine can judge them."""

import re

import nbformat
import pytest
from handed_in import ROOT

COLUMNS = 88  # a laptop's JupyterLab shows no more without scrolling
LINES = 15  # of a cell in a lesson; its imports aside
WHOLE = 60  # of a cell tagged "whole", the complete class of what a lesson built, folded
PAGES = sorted(path for folder in ("notebooks", "exercises", "solutions") for path in (ROOT / folder).glob("*.ipynb"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}-{path.stem[:2]}")
def test_no_line_of_code_is_cut_on_a_laptop(path):
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code" and cell.id != "colab-install"]
    lines = [(cell.id, line) for cell in cells for line in cell.source.split("\n")]
    assert lines and [line for line in lines if len(line[1]) > COLUMNS] == []


@pytest.mark.parametrize(
    "path", [path for path in PAGES if path.parent.name == "notebooks"], ids=lambda path: path.stem[:2]
)
def test_a_cell_of_a_lesson_is_read_at_a_glance(path):
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    counts = {cell.id: cell.source.count("\n") + 1 for cell in cells if "setup" not in cell.metadata.get("tags", ())}
    whole = {cell.id for cell in cells if "whole" in cell.metadata.get("tags", ())}
    assert len(whole) <= 1 and all(cell.metadata.jupyter.source_hidden for cell in cells if cell.id in whole)
    assert counts and {n: lines for n, lines in counts.items() if lines > (WHOLE if n in whole else LINES)} == {}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}-{path.stem[:2]}")
def test_no_output_is_what_a_drawing_function_handed_back(path):
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    texts = [output.get("data", {}).get("text/plain", "") for cell in cells for output in cell.outputs]
    assert cells and [text for text in texts if re.search(r"\bText\(|<matplotlib\.| at 0x", text)] == []


@pytest.mark.parametrize(
    "path", [path for path in PAGES if path.parent.name == "exercises"], ids=lambda path: path.stem[:2]
)
def test_what_a_failed_check_speaks_of_can_be_called(path):
    sources = [cell.source for cell in nbformat.read(path, 4).cells if "setup" in cell.metadata.get("tags", ())]
    assert any("from course_checks import check, failing_case, hint\n" in f"{source}\n" for source in sources)
