"""What each answer reaches above its check, and what of that stands on the list of what to look at."""

import json

import handed_in
import pytest
from recorded_answers import recorded_answers

from course_checks.catalogue import catalogue_entry
from course_grader.reading.answers import named_cells, read_answers
from course_grader.released_notebook import load_releases
from course_grader.submissions.notebook import parse
from course_grader.submissions.rebuild import NotebookStep, rebuild

SETUP = NotebookStep("provided", "import torch\nimport torch.nn.functional as F\nfrom torch import nn")
CHECK = NotebookStep("check", "", "2.1")


def read(*texts, products=(), before=(SETUP,)):
    steps = (*before, *(NotebookStep("answer", text, "2.1") for text in texts), CHECK)
    return read_answers(steps, {"2.1": "f"}, frozenset(products)).reached["2.1"]


LISTED = {
    "code from text": ["eval('x')", "exec('x')", "g = globals", "__import__('m')", "get_ipython().push({})"],
    "a name that is worked out": ["getattr(x, y)", "g = getattr", "getattr(x, '__globals__')", "vars(torch)['s']"],
    "attributes": ["x.__dict__", "x.__globals__", "x.f_back", "torch.ops.aten._C", "sys.modules['m']"],
    "modules that are not known": [
        "import importlib",
        "from pickle import loads",
        "import my_own_file",
        "import ctypes",
    ],
    "what calls by a text": ["import operator\n    operator.methodcaller('s')", "from operator import attrgetter"],
    "PyTorch's inner parts": ["torch.jit.script(x)", "torch.hub.load('s')", "torch.overrides.a", "x.apply_(y)"],
    "other processes": ["import os\n    os.system('ls')", "import os\n    os.fork()", "import subprocess"],
    "hooks": ["def __torch_function__(): ...", "import sys\n    sys.settrace(x)"],
}
UNLISTED = [
    "getattr(x, 'T')", "setattr(x, 'a', 1)", "model.eval()", "x.__class__", "self.__dict__.update(a=1)", "locals()",
    "import math", "from functools import partial", "import sys\n    sys.maxsize", "from types import SimpleNamespace",
    "from concurrent.futures import ThreadPoolExecutor", "import inspect\n    inspect.signature(x)",
    "getattr(self, f'layer_{i}')", "import os\n    os.path.join('a', 'b')", "[m for m in model.modules()]", "x.softmax(-1)",
]  # fmt: skip


@pytest.mark.parametrize("kind", LISTED)
def test_what_is_on_the_list(kind):
    for text in LISTED[kind]:
        assert read(f"def f(x, y):\n    {text}").listed, text
        assert not read(f"def g(x, y):\n    {text}", "def f(x):\n    pass").listed, text  # not reached
        given = NotebookStep("provided", f"def g(x, y):\n    {text}")
        assert not read("def f(x):\n    return g(x)", before=(given,)).listed, text  # the course's own


@pytest.mark.parametrize("text", UNLISTED)
def test_what_is_not_on_the_list(text):
    assert not read(f"def f(self, x, model, i):\n    {text}").listed


def test_products_of_numpy_are_listed_where_products_are_off_limits():
    for text in ("return x @ y", "return x.dot(y)", "return np.matmul(x, y)", "from numpy import dot"):
        assert (
            read(f"def f(x, y):\n    {text}", products=["2.1"]).listed and not read(f"def f(x, y):\n    {text}").listed
        )
    assert not read("def f(x, y):\n    return dot(x, y)", products=["2.1"]).listed  # a function of the notebook's own


def test_the_line_is_said():
    found = read("x = 1\n%time y = 2\ndef f(x):\n    return eval('x')").listed
    assert found == ("answer 2.1, line 4: `return eval('x')`: `eval` is on the list of what to look at",)


def test_the_cells_beside_an_answer():
    extra = NotebookStep("extra", "a = 1")
    steps = (SETUP, extra, NotebookStep("answer", "b = 2\ndef f(x):\n    return x", "2.1"), extra, CHECK, extra)
    found = read_answers(steps, {"2.1": "f"}, frozenset()).reached["2.1"]
    assert found.partly == {2: "answer 2.1"} and found.unused == {1: "an extra cell", 3: "an extra cell (2)"}
    assert found.statements == (("def f(x):\n    return x", True),)


def test_what_cannot_be_read():
    steps = (SETUP, NotebookStep("answer", "def f(x):\n    return = x", "2.1"), CHECK)
    findings = read_answers(steps, {"2.1": "f"}, frozenset())
    assert findings.syntax_errors == {"2.1": (2, "return = x", "invalid syntax")}
    long = read("def f(x):\n    return " + "(x) + " * 30_000 + "x")
    assert long.statements == () and long.unused == {1: "answer 2.1"}


def listed_in(released, cells):
    rebuilt = rebuild(released, cells)
    expressions = {n: e.expression for n, e in released.exercises.items() if not catalogue_entry(n).is_quiz}
    found = read_answers(rebuilt.steps, expressions, frozenset(expressions)).reached
    return {number: one.listed for number, one in found.items() if one.listed}


def test_a_notebook_as_it_is_handed_out_has_nothing_listed(root):
    for released in load_releases(root / "exercises").values():
        for folder, ends in (("exercises", "\n"), ("solutions", "\r\n")):
            notebook = json.loads((root / folder / f"{released.stem}.ipynb").read_text(encoding="utf-8"))
            for cell in notebook["cells"]:
                cell["source"] = "".join(cell["source"]).replace("\n", ends)
            listed = listed_in(released, parse(handed_in.as_bytes(notebook))[0])
            assert not {number for number, lines in listed.items() if any("@" not in line for line in lines)}


@pytest.mark.parametrize("lesson", ["00", "01", "04", pytest.param("all", marks=pytest.mark.slow)])
def test_independent_answers_have_nothing_listed(root, lesson):
    for released in load_releases(root / "exercises", None if lesson == "all" else lesson).values():
        given = tuple(NotebookStep("provided", cell.text) for cell in released.cells if cell.role == "provided")
        for number, exercise in released.exercises.items():
            for answer in () if catalogue_entry(number).is_quiz else recorded_answers(number):
                steps = (*given, NotebookStep("answer", answer.text, number), NotebookStep("check", "", number))
                found = read_answers(steps, {number: exercise.expression}, frozenset()).reached[number]
                assert not found.listed, (number, answer.about)


def test_the_cells_that_lines_name():
    extra = [NotebookStep("extra", text) for text in "abcd"]
    steps = (extra[0], CHECK, extra[1], extra[2], NotebookStep("check", "", "2.10"), extra[3])
    names = ["an extra cell", *(f"an extra cell after the check of {place}" for place in ("2.1", "2.1 (2)", "2.10"))]
    for name, text in zip(names, "abcd", strict=True):
        assert named_cells(steps, ["answer 2.1, line 3: `eval(x)`", f"{name}, line 1: `x`"]) == {name: text}
