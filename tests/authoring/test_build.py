"""Build and check on a small project: what is written, when, and what is left alone when something is wrong."""

import json

import nbformat
import pytest

from course_authoring import build as build_module
from course_authoring import readme
from course_authoring.__main__ import main
from course_authoring.assemble import INSTALL_ID
from course_authoring.build import build, check
from course_authoring.dependencies import RECORD
from course_authoring.errors import AuthoringError

LESSON, SOLUTION, EXERCISE = "notebooks/05_masking.ipynb", "solutions/05_masking.ipynb", "exercises/05_masking.ipynb"


def stamp(project):
    paths = sorted(path for path in project.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}


def reasons(group):
    return [str(problem) for problem in group.value.exceptions]


def test_build_executes_and_check_is_content(built):
    lesson, solution, exercise = (nbformat.read(built / path, 4) for path in (LESSON, SOLUTION, EXERCISE))
    assert lesson.cells[4].outputs[0].text == "4.0\n"
    assert all(cell.execution_count for cell in solution.cells if cell.cell_type == "code")
    assert not any(cell.get("outputs") for cell in exercise.cells)
    assert check(built) == []
    text = (built / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# Course\n") and text.endswith("The end.\n")
    assert "\n| 05 | [Masking](notebooks/05_masking.ipynb) | 65 min | 3½ h | 2 |\n" in text


def test_building_twice_changes_nothing(built):
    before = stamp(built)
    assert build(built) == []
    assert stamp(built) == before


def test_another_address_changes_the_links_and_runs_nothing(built, monkeypatch):
    ran = nbformat.read(built / LESSON, 4).cells
    monkeypatch.setattr(build_module, "execute", lambda *_, **__: pytest.fail("it ran something"))
    (built / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    assert check(built) == []  # they are what their sources say, for the address that they hold
    assert build(built) == [LESSON, SOLUTION, EXERCISE, RECORD] and check(built) == []
    without = nbformat.read(built / LESSON, 4).cells
    assert [cell.outputs for cell in without if cell.cell_type == "code"] == [
        cell.outputs for cell in ran if cell.cell_type == "code" and cell.id != INSTALL_ID
    ]
    monkeypatch.setenv("GITHUB_REPOSITORY", "some/fork")
    assert build(built, only="05") == [] and check(built) == []  # a part goes by the others
    assert build(built) == [LESSON, SOLUTION, EXERCISE, RECORD] and check(built) == []
    assert "github/some/fork/blob" in nbformat.read(built / LESSON, 4).cells[0].source


def test_only_what_changed_is_rebuilt(built, edit):
    edit("# Square it.", "# Square it, please.")
    assert build(built) == [SOLUTION, EXERCISE]
    edit("An idea", "Another idea", "sources/lessons/05_masking.py")
    assert build(built, only="05") == [LESSON]


TOUR = """# %% [markdown]
# # A tour
#
# By the end you can square.

# %%
from course_utils import tool

print(tool.VALUE)

# %% tags=["exercise"]
def square(x):
    # BEGIN SOLUTION
    return x * x
    # END SOLUTION


# %% tags=["check"]
print(square(3))
"""


def test_a_tour_shows_what_its_solution_printed_but_for_its_tasks(built):
    (built / "course_utils").mkdir(exist_ok=True)
    module = built / "course_utils" / "tool.py"
    (built / "sources" / "tour").mkdir()
    setup = "import sys; sys.path.insert(0, '..')\nfrom course_utils import tool"
    text = (built / "sources/lessons/05_masking.py").read_text().partition("# %%")[0]
    text += TOUR.replace("from course_utils import tool", setup)
    (built / "sources" / "tour" / "short.py").write_text(text)
    solution, tour = "solutions/short.ipynb", "notebooks/short.ipynb"
    for value in (1, 2):  # the second time only the library has changed
        module.write_text(f"VALUE = {value}\n")
        assert build(built) == [solution, tour, RECORD] and check(built) == []
        code = [c for c in nbformat.read(built / tour, 4).cells if c.cell_type == "code" and c.id != INSTALL_ID]
        shown, answer, checked = code
        assert shown.outputs[0].text == f"{value}\n"
        assert "NotImplementedError" in answer.source and not answer.outputs and not checked.outputs
        assert checked.metadata.tags == ["check", "raises-exception"]  # "Run All" goes on past an unanswered task
        assert nbformat.read(built / solution, 4).cells[-1].outputs[0].text == "9\n"


@pytest.fixture
def tool(built, edit):
    """A library module that the lesson imports and the exercises do not; built."""
    (built / "course_utils").mkdir(exist_ok=True)
    module = built / "course_utils" / "tool.py"
    module.write_text("VALUE = 1\n")
    start = "import math, sys; sys.path.insert(0, '..'); from course_utils import tool; print(tool.VALUE)"
    edit("import math", start, "sources/lessons/05_masking.py")
    assert build(built) == [LESSON, RECORD]
    return module


def test_a_library_change_runs_what_imports_it(built, tool):
    tool.write_text("VALUE = 22\n")
    stale = [f"{LESSON}: the library that it uses has changed since it was run; run `make build`"]
    assert check(built) == check(built, only="05") == stale
    assert build(built) == [LESSON, RECORD] and check(built) == [] and build(built) == []
    assert nbformat.read(built / LESSON, 4).cells[2].outputs[0].text == "22\n"


def test_comments_and_docstrings_run_nothing(built, tool):
    tool.write_text('"""A tool."""\n# One.\nVALUE = 1  # two\n')
    before = stamp(built)
    assert check(built) == [] and build(built) == [] and stamp(built) == before


def test_a_notebook_without_a_record_is_stale_and_one_that_is_gone_has_none(built):
    lines = (built / RECORD).read_text()
    (built / RECORD).write_text(lines.replace(LESSON, "notebooks/04_gone.ipynb"))
    assert [problem.split(": ")[0] for problem in check(built)] == [LESSON]
    assert build(built, only="05") == [LESSON, RECORD] and "04_gone" in (built / RECORD).read_text()
    assert build(built) == [RECORD] and (built / RECORD).read_text() == lines


def test_where_only_prose_changed_nothing_is_run(built, edit, monkeypatch):
    from course_authoring import build as module

    before = nbformat.read(built / LESSON, 4)
    monkeypatch.setattr(module, "execute", lambda *_, **__: pytest.fail("it was run"))
    edit("An idea", "A better idea", "sources/lessons/05_masking.py")
    edit("# Square it.", "# Square it, please.")
    assert build(built) == [LESSON, SOLUTION, EXERCISE]
    after = nbformat.read(built / LESSON, 4)
    assert "A better idea" in after.cells[3].source and after.cells[4].id == "5-1-a-better-idea-2"
    assert [cell.get("outputs") for cell in after.cells] == [cell.get("outputs") for cell in before.cells]
    assert check(built) == []


def test_outputs_are_the_same_bytes_when_forced(built, edit):
    edit("print(os.getpid())", "pass", "sources/lessons/05_masking.py")
    build(built)
    before = (built / LESSON).read_bytes()
    assert set(build(built, force=True)) == {LESSON, SOLUTION, EXERCISE}
    assert (built / LESSON).read_bytes() == before


def change(path, function):
    notebook = json.loads(path.read_text())
    function(notebook)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


EDITS = {
    "text": (LESSON, lambda n: n["cells"][4].update(source="print(5)"), "cell 5 (5-1-an-idea-2): its text differs"),
    "metadata": (EXERCISE, lambda n: n["cells"][5]["metadata"]["nbgrader"].update(points=99), "its metadata differs"),
    "a cell less": (SOLUTION, lambda n: n["cells"].pop(), "11 cells, but"),
    "a cell more": (LESSON, lambda n: n["cells"].append(n["cells"][0] | {"id": "x"}), "7 cells, but"),
    "kernel": (LESSON, lambda n: n["metadata"].pop("kernelspec"), "the notebook's metadata differs"),
    "never run": (LESSON, lambda n: n["cells"][4].update(execution_count=None, outputs=[]), "was never run"),
    "saved output": (EXERCISE, lambda n: n["cells"][5].update(execution_count=3), "not byte for byte"),
}


@pytest.mark.parametrize("name", EDITS)
def test_check_names_an_edited_notebook(built, name):
    path, function, reason = EDITS[name]
    change(built / path, function)
    (problem,) = check(built)
    assert problem.startswith(path) and reason in problem
    assert build(built) and check(built) == []


def test_check_names_missing_orphaned_and_broken_notebooks(built):
    (built / LESSON).unlink()
    (built / "exercises/06_gone.ipynb").write_text("{}")
    (built / SOLUTION).write_text("not json")
    problems = check(built)
    assert [p.split(": ")[0] for p in problems] == [LESSON, SOLUTION, "exercises/06_gone.ipynb"]
    assert "missing: run `make build`" in problems[0]
    assert "not a readable notebook" in problems[1]
    assert "orphan" in problems[2]


def test_check_names_an_edited_readme(built):
    path = built / "README.md"
    path.write_text(path.read_text(encoding="utf-8").replace("65 min", "6 min"), encoding="utf-8")
    assert check(built) == ["README.md: its list of lessons is not what the sources say"]


BROKEN = {
    "raises": ("print(math.sqrt(16))", "1 / 0", "the cell raises ZeroDivisionError: division by zero"),
    "warns": ("print(math.sqrt(16))", "import warnings; warnings.warn('old')", "writes to stderr"),
    "dies": ("print(math.sqrt(16))", "import os; os._exit(1)", "DeadKernelError"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_lesson_stops_and_nothing_half_done_is_written(built, edit, name):
    old, new, reason = BROKEN[name]
    edit(old, new, "sources/lessons/05_masking.py")
    edit("# Square it.", "# Square it, please.")
    before = (built / LESSON).read_bytes()
    with pytest.raises(ExceptionGroup) as caught:
        build(built)
    (message,) = reasons(caught)
    assert reason in message and "sources/lessons/05_masking.py" in message
    if name != "dies":
        assert "cell 4" in message
    assert (built / LESSON).read_bytes() == before
    assert "please" in (built / EXERCISE).read_text()  # the other source is built
    assert not list(built.rglob(".*"))


def test_a_solution_that_fails_its_check_keeps_the_exercise_back(built, edit):
    edit("result = x * x", "result = x * 2")
    before = (built / EXERCISE).read_bytes(), (built / SOLUTION).read_bytes()
    with pytest.raises(ExceptionGroup) as caught:
        build(built)
    assert "cell 5: the cell raises AssertionError: 5.1 not yet" in reasons(caught)[0]
    assert check(built) != []
    assert ((built / EXERCISE).read_bytes(), (built / SOLUTION).read_bytes()) == before


def test_every_broken_source_is_named_at_once(project, edit):
    edit('tags=["check"]', 'tags=["chekc"]')
    edit("name: python3", "name: julia", "sources/lessons/05_masking.py")
    with pytest.raises(ExceptionGroup) as caught:
        build(project)
    assert len(reasons(caught)) == 2 and not (project / LESSON).exists()


def test_a_kernel_that_is_not_installed_is_named(project, monkeypatch):
    from course_authoring import execute

    class NoKernels:
        def get_kernel_spec(self, name):
            raise execute.NoSuchKernel(name)

    monkeypatch.setattr(execute, "KernelSpecManager", NoKernels)
    with pytest.raises(ExceptionGroup) as caught:
        build(project, jobs=1)
    assert "missing kernelspec: no kernel called 'python3' is installed" in reasons(caught)[0]


def test_missing_markers(project):
    for marker in (readme.BEGIN, readme.END):
        (project / "README.md").write_text(f"# Course\n{marker}\n")
        with pytest.raises(AuthoringError, match=r"README\.md: needs one line"):
            check(project)


def test_command_line(built, edit, capsys):
    at = ["--root", str(built)]
    assert main(["check", *at]) == 0 and main(["build", *at]) == 0
    edit("# Square it.", "# Square it, please.")
    assert main(["check", *at]) == 1
    assert f"differs: {SOLUTION}: cell 4 (5-1-square-1)" in capsys.readouterr().err
    edit('tags=["quiz"]', 'tags=["quizz"]')
    assert main(["build", *at, "--only", "05"]) == 1
    assert "error: sources/exercises/05_masking.py:" in capsys.readouterr().err
    assert main(["build", *at, "--only", "99"]) == 1
    assert "no source that begins with '99' was found" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["build", *at, "--jobs", "0"])
