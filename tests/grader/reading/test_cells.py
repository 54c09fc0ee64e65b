"""A cell is read as the Python that runs in JupyterLab, with its line numbers, whatever it holds."""

import ast
import time

import pytest

from course_grader.reading.answers import read_answers
from course_grader.reading.cells import defined_names, read_cell
from course_grader.submissions.rebuild import NotebookStep

SECONDS = 30.0  # on any machine: what is quadratic takes minutes


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("    x = 1\n    def f():\n        return x\n", {"x", "f"}),
        (">>> x = 1\n>>> def f():\n...     return x\n", {"x", "f"}),
        ("In [1]: x = 1\n   ...: y = 2", {"x", "y"}),
        ("%matplotlib inline\nx = 1", {"x"}),
        ("%timeit -n 10 f(1)\nx = 1", {"x"}),
        ("%time x = f()", {"x"}),
        ("x = %time f()", {"x"}),
        ("%%time\nx = 1\ny = 2", {"x", "y"}),
        ("%%time\n%time x = 1", {"x"}),
        ("%%timeit -n 10 -r 3\nx = 1", set()),
        ("%%capture out\nx = 1", {"x"}),
        ("!pip install a \\\n    b\nx = 1", {"x"}),
        ("%pip install a b\nx = 1", {"x"}),
        ("?len\nx = 1", {"x"}),
        ("len?\nx = 1", {"x"}),
        ("x = 'a %d' \\\n    % 3\n", {"x"}),
        ("x = (\n    'a %s'\n    % 3\n)\n", {"x"}),
        ("if True:\n    !ls\n    x = 1", {"x"}),
        ("x = !ls", {"x"}),
        ("x = 1;", {"x"}),
        ("\x0cx = 1\r\ny = 2\r\n", {"x", "y"}),
        ("x = 'a?'\n# %time y = 1\nz = '''\n%time y = 1\n'''", {"x", "z"}),
        (
            "for i, (a, b) in c:\n    with d as e:\n        (f := g)\nimport h.i, j as k\nl.m = n = lambda o: (p := 1)",
            set("iabefhkn"),
        ),
    ],
)
def test_what_runs_in_jupyterlab_is_read(text, names):
    cell = read_cell(text)
    assert cell.tree is not None and defined_names(cell) == names


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\nreturn_ x", 2),
        ("\n\n%time x = 1\ny = = 2", 4),
        (">>> x = 1\n>>> y = = 2", 2),
        ("    x = 1\n    y = = 2", 2),
        ("x = 1\r\ny = = 2\r\n", 2),
    ],
)
def test_a_cell_that_is_not_python_names_the_students_line(text, line):
    cell = read_cell(text)
    assert cell.tree is None and (cell.line, cell.text(line)) == (line, text.splitlines()[line - 1].strip(" >"))
    assert cell.problem


def test_code_that_the_translator_changes_is_read_as_changed():
    text = "x = {\n...: 1}"  # Python by itself; IPython takes the dots for a prompt
    assert ast.unparse(read_cell(text).tree) == "x = {1}"


M = 1_000_000
HUGE = {
    "newlines": "\n" * M,
    "elif": "if a: pass\n" + "elif a: pass\n" * 2_900,
    "chain": " = ".join(f"a{i}" for i in range(2_000)) + " = 1",
    "union": " | ".join(["a"] * 250_000),
    "brackets": "(" * M,
    "lambdas": "lambda: " * 9_000 + "1",
    "attributes": "torch" + ".a" * 3_000,
    "nested": "".join(" " * i + "if a:\n" for i in range(99)) + " " * 99 + "pass",
    "functions": "def f(): pass\n" * 70_000,
    "comprehensions": "[" * 90 + "a" + " for a in a]" * 90,
    "magics": "%a\n" * 300,
    "cell": "%%time\n" * 5_000,
    "help": ("a" * 3_900 + " ?\n") * 20,
    "not IPython": "%a\n" + "$ ? `\n" * 13_000,
    "quotes": '"""' * 5_000 + "\n>>> ",
    "text": "'''" + "a" * M,
    "nul": "a\0b",
    "surrogates": "a = '\ufffd'" * 1_000,
    "globals": "def f():\n    global a\n" * 4_000,
    "defaults": "def f(" + ", ".join(f"a{i}=a{i}" for i in range(5_000)) + "): pass",
}


@pytest.mark.parametrize("name", HUGE)
def test_no_cell_takes_long(name):
    """Each of these was quadratic or worse somewhere, or ended the reading by its depth."""
    started = time.perf_counter()
    _read(HUGE[name])
    assert time.perf_counter() - started < SECONDS


def _read(text):
    answers = (NotebookStep("answer", text, "2.1"), NotebookStep("answer", "def f(x):\n    return a(x)", "2.2"))
    steps = (NotebookStep("provided", "import torch"), *answers, NotebookStep("check", "", "2.1"))
    read_answers(steps, {"2.1": "f"}, frozenset({"2.1"}))
