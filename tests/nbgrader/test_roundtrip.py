"""One solution notebook through the real nbgrader: released, handed in full, half and empty, graded.

Run by ``make test-nbgrader``, which puts nbgrader into a virtual environment of its own. Notebooks run in the course's own
kernel, as they would on a class's server.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
STEM, ASSIGNMENT = "01_dot_product_similarity", "ps1"
NBGRADER = ROOT / ".venv-nbgrader" / ("Scripts" if os.name == "nt" else "bin") / "nbgrader"
ANSWERED = {
    "full": None,
    "half": {"answer-1-1", "answer-1-2", "answer-1-3", "answer-1-6", "quiz-1-7"},
    "empty": set(),
}  # None: all
POINTS = {"full": 24.0, "half": 12.0, "empty": 0.0}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course folder after generate_assignment."""
    assert NBGRADER.exists(), "run `make test-nbgrader`, which installs nbgrader into .venv-nbgrader"
    folder = tmp_path_factory.mktemp("course")
    (folder / "source" / ASSIGNMENT).mkdir(parents=True)
    shutil.copy(ROOT / "solutions" / f"{STEM}.ipynb", folder / "source" / ASSIGNMENT)
    shutil.copy(ROOT / "docs" / "nbgrader_config.py", folder)
    kernel = folder / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "course", "language": "python"}))
    nbgrader(folder, "generate_assignment", ASSIGNMENT)
    return folder


def nbgrader(folder, *arguments):
    path = os.pathsep.join([str(NBGRADER.parent), os.environ["PATH"]])  # nbgrader calls alembic by its name
    environment = {**os.environ, "PATH": path, "JUPYTER_PATH": str(folder / "jupyter")}
    done = subprocess.run(
        [str(NBGRADER), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


def released(course):
    return nbformat.read(course / "release" / ASSIGNMENT / f"{STEM}.ipynb", 4)


def test_the_release_is_the_exercise_notebook(course):
    """nbgrader takes out what our own build takes out; stubs differ by a pair of parentheses, quizzes by their stub."""
    ours = {cell.id: cell.source for cell in nbformat.read(ROOT / "exercises" / f"{STEM}.ipynb", 4).cells}
    theirs = {cell.id: cell.source for cell in released(course).cells}
    assert ours.keys() == theirs.keys()
    for name, text in theirs.items():
        text = text.replace("raise NotImplementedError()", "raise NotImplementedError")
        if name.startswith("quiz-"):
            text = text.replace("\n# YOUR CODE HERE\nraise NotImplementedError", "")
        text = text.replace("\nraise NotImplementedError", "")  # the cell of an experiment runs as it is handed out
        assert text == ours[name]


def test_full_half_and_no_points(course):
    answers = {cell.id: cell.source for cell in nbformat.read(ROOT / "solutions" / f"{STEM}.ipynb", 4).cells}
    for student, chosen in ANSWERED.items():
        notebook = released(course)
        for cell in notebook.cells:
            is_answer = cell.metadata.get("nbgrader", {}).get("solution")
            if is_answer and (chosen is None or cell.id in chosen):
                cell.source = answers[cell.id]
        folder = course / "submitted" / student / ASSIGNMENT
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{STEM}.ipynb")
    nbgrader(course, "autograde", ASSIGNMENT)
    nbgrader(course, "export", "--to", "grades.csv")
    with open(course / "grades.csv", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert {student: float(rows[student]["score"]) for student in POINTS} == POINTS
    assert {float(rows[student]["max_score"]) for student in POINTS} == {24.0}
