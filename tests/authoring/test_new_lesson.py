"""A new lesson, laid out in a small project with the library's own code, then built, checked and tested for real."""

import shutil
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from course_authoring.__main__ import main
from course_authoring.build import build, check
from course_authoring.errors import AuthoringError
from course_authoring.new_lesson import FILES, TEMPLATES, new_lesson

NAME, TITLE = "13_state_spaces", "State spaces"


@pytest.fixture
def folders(project):
    """The small project, with folders for what a new lesson adds."""
    for folder in ("course_checks", "tests/answers", "tests/checks/lessons"):
        (project / folder).mkdir(parents=True)
    return project


@pytest.fixture
def with_library(folders, root, monkeypatch):
    """... and a folders of the library and of the checks, which kernels and tests started from here import."""
    unneeded = shutil.ignore_patterns("__pycache__", "*.safetensors", "*.json", "lesson_*")
    for package in ("course_utils", "course_checks"):
        shutil.copytree(root / package, folders / package, ignore=unneeded, dirs_exist_ok=True)
    for name in ("recorded_answers.py", "test_mistakes.py"):
        shutil.copy(root / "tests/checks" / name, folders / "tests/checks" / name)
    monkeypatch.setenv("PYTHONPATH", str(folders))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return folders


def errors(notebook, folder):
    """Run all cells: the ids of those that raise, and their messages."""
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, kernel_name="python3", allow_errors=True, resources=resources).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {cell.id: out.evalue for cell in cells for out in cell.outputs if out.output_type == "error"}


def test_it_builds_and_its_checks_and_tests_hold(with_library, root):
    new_lesson(with_library, NAME)
    assert {f"{folder}/{NAME}.ipynb" for folder in ("notebooks", "solutions", "exercises")} <= set(build(with_library))
    assert check(with_library) == []

    row = f"| 13 | [{TITLE}](notebooks/{NAME}.ipynb) | 20 min | 20 min | 2 |"
    assert row in (with_library / "README.md").read_text(encoding="utf-8").splitlines()
    before = nbformat.read(with_library / "notebooks/05_masking.ipynb", 4)
    assert f"[lesson 13, {TITLE}](../notebooks/{NAME}.ipynb)" in before.cells[0].source

    exercises = nbformat.read(with_library / f"exercises/{NAME}.ipynb", 4)
    solution = nbformat.read(with_library / f"solutions/{NAME}.ipynb", 4)
    refused = errors(exercises, with_library)
    assert set(refused) == {"check-13-1", "check-13-2"}
    assert all("not attempted yet" in message for message in refused.values())
    answers = {cell.id: cell.source for cell in solution.cells}
    for cell in exercises.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = answers[cell.id]
    assert errors(exercises, with_library) == {}

    pytest_here, ruff = ("pytest", "-q", "-p", "no:cacheprovider"), ("ruff", "check", "--no-cache", "--config")
    for command in (
        ("tests/checks/recorded_answers.py", "13"),
        ("-m", *pytest_here, "tests/checks/lessons/test_lesson_13.py"),
        ("-m", *pytest_here, "tests/checks/test_mistakes.py", "-k", "13.1 or 13.2"),
        ("-m", *ruff, str(root / "pyproject.toml"), "sources", "tests/checks"),
        ("-m", "ruff", "format", "--check", "--no-cache", "--line-length=120", "course_checks/lesson_13"),
    ):
        done = subprocess.run([sys.executable, *command], cwd=with_library, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout[-2000:]} {done.stderr[-2000:]}"
    messages = (with_library / "build/answers.md").read_text()
    assert [messages.count(part) for part in ("### 13.1 ", "It looks like: ", "[right]")] == [6, 4, 2]


def test_the_guide_shows_what_is_laid_out(root):
    """CONTRIBUTING.md holds the whole file of the exercise, and its cells in the source, as they are laid out."""

    def as_code(text):
        lines = text.replace("@NN@", "13").replace("@N@", "13").rstrip("\n").split("\n")
        return "\n".join(f"    {line}".rstrip() for line in lines)

    guide = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"\n\n{as_code((TEMPLATES / 'running_average.py.txt').read_text(encoding='utf-8'))}\n\n" in guide
    cells = (TEMPLATES / "exercises.py.txt").read_text(encoding="utf-8").split("# %%")
    shown = [
        cell
        for cell in cells
        if any(part in cell for part in ("@N@.1", "running_average", "quiz_@N@", "- **a.**", '["mistakes"]'))
    ]
    assert len(shown) == 8
    for cell in shown:
        assert as_code(f"# %%{cell}") in guide, cell


def files(project):
    return {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("name", "title", "reason"),
    [
        ("05_masking", None, "lesson 05 already: sources/lessons/05_masking.py, sources/exercises/05_masking.py"),
        ("05_other", None, "there is a lesson 05 already: sources/lessons/05_masking.py"),
        ("07_other", None, "there is a lesson 07 already: course_checks/lesson_07/__init__.py"),
        *((name, None, "must look like 13_state_spaces") for name in ("state_spaces", "13_State_spaces", "../13_x")),
        *((NAME, title, "a title has 1 to 60 characters") for title in ("", "x" * 61, 'The "new" one', "two\nlines")),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(folders, name, title, reason):
    (folders / "course_checks/lesson_07").mkdir()
    (folders / "course_checks/lesson_07/__init__.py").write_text("")
    before = files(folders)
    with pytest.raises(AuthoringError) as caught:
        new_lesson(folders, name, title)
    assert reason in str(caught.value)
    assert files(folders) == before


def test_outside_the_project_it_says_so(tmp_path):
    with pytest.raises(AuthoringError, match="there is no such folder here"):
        new_lesson(tmp_path, NAME)


def test_command_line(folders, capsys):
    at = ["--root", str(folders)]
    assert main(["new", NAME, "State spaces, again", *at]) == 0
    output = capsys.readouterr().out
    assert all(f"wrote {path.format(stem=NAME, number='13')}" in output for path in FILES.values())
    assert "# # 13 · State spaces, again\n" in (folders / f"sources/lessons/{NAME}.py").read_text()
    assert main(["new", NAME, *at]) == 1
    assert "error: '13_state_spaces': there is a lesson 13 already" in capsys.readouterr().err
    for wrong in (["new", *at], ["build", NAME, *at]):
        with pytest.raises(SystemExit):
            main(wrong)
