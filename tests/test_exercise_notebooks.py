"""The exercise notebooks as students and graders run them: plain nbval, in a process of its own.

As shipped, each fails at its check cells and nowhere else; with the solutions put in, each passes whole; with one answer
right and one wrong, exactly those verdicts come out.
"""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
EXERCISES = [path.stem for path in sorted((ROOT / "exercises").glob("*.ipynb"))]


def nbval(notebook, folder):
    """Run nbval as docs/teaching.md says; returns {ordinal of the code cell: its failure text, or None}."""
    path = folder / "handed_in.ipynb"
    nbformat.write(notebook, path)
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "--nbval-current-env", str(path)]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", f"--junitxml={report}"],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    cases = list(ElementTree.parse(report).iter("testcase"))
    failures = {}
    for case in cases:
        failure = case.find("failure")
        failures[int(re.search(r"(\d+)$", case.get("name")).group(1))] = None if failure is None else failure.text or ""
    assert done.returncode == (1 if any(v is not None for v in failures.values()) else 0), done.stdout[-2000:]
    return failures


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def is_check(cell):
    return "check" in cell.metadata.get("tags", ())


@pytest.fixture
def pair(root, request):
    return tuple(nbformat.read(root / folder / f"{request.param}.ipynb", 4) for folder in ("exercises", "solutions"))


# `make test` runs the same cells, with answers, in solutions/; hence two lessons here, and unsolved all in `make test-slow`.
SAMPLE = [name for name in EXERCISES if name[:2] in ("01", "06")]
OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in EXERCISES if name not in SAMPLE]


@pytest.mark.parametrize("pair", [*SAMPLE, *OTHERS], indirect=True)
def test_unsolved_fails_exactly_at_its_checks(pair, tmp_path):
    notebook, _ = pair
    failures = nbval(notebook, tmp_path)
    for ordinal, cell in enumerate(code_cells(notebook)):
        assert (failures[ordinal] is not None) == is_check(cell), cell.source
        if is_check(cell):
            assert "not attempted yet" in failures[ordinal] and "course_checks" not in failures[ordinal]


@pytest.mark.parametrize("pair", SAMPLE, indirect=True)
def test_solved_passes_whole(pair, tmp_path):
    notebook, solution = pair
    answers = {cell.id: cell.source for cell in solution.cells}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = answers[cell.id]
    assert set(nbval(notebook, tmp_path).values()) == {None}


@pytest.mark.parametrize("pair", ["01_dot_product_similarity"], indirect=True)
def test_one_right_and_one_wrong_give_exactly_those_verdicts(pair, tmp_path):
    notebook, _ = pair
    written = {
        "answer-1-1": "def dot(a, b):\n    return (a * b).sum()",
        "answer-1-2": "def cosine(a, b):\n    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))",
    }
    for cell in notebook.cells:
        cell.source = written.get(cell.id, cell.source)
    failures = nbval(notebook, tmp_path)
    verdicts = {cell.id: failures[i] for i, cell in enumerate(code_cells(notebook)) if is_check(cell)}
    assert verdicts.pop("check-1-1") is None
    wrong = verdicts.pop("check-1-2")
    assert "1.2 not yet · 0 of 3 points" in wrong and "a zero vector has length 0, and 0 / 0 is NaN" in wrong
    assert all("not attempted yet" in text for text in verdicts.values()) and len(verdicts) == 7
