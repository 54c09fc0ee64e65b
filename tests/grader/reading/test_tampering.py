"""Code that works on the place it runs in."""

import ast

import pytest

from course_grader.reading.bindings import bindings_of
from course_grader.reading.tampering import tampering_in


def reason(text):
    tree = ast.parse(text)
    return {what for _, what in tampering_in(tree, bindings_of([(tree, 0)]))}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import torch\ntorch.isclose = 1", "replaces torch.isclose"),
        ("import torch as t\nsetattr(t, 'isclose', 1)", "replaces torch"),
        ("check = print", "replaces check"),
        ("from a import b as check", "replaces check"),
        ("get_ipython().ast_transformers.append(1)", "reaches for ast_transformers"),
        ("get_ipython().showtraceback = 1", "reaches for showtraceback"),
        ("from sys import modules as m\nm['x']", "reaches for sys.modules"),
        ("import course_checks.running.guard as g", "imports course_checks.running.guard"),
        ("from course_grader import grade", "imports course_grader.grade"),
        ("import gc\ngc.get_objects()", "reaches for gc.get_objects"),
        ("def g():\n    exec('x')", "uses exec, which reaches what cannot be read"),
        ("open('/proc/self/mem')", "names /proc/self/mem"),
        ("get_ipython().run_line_magic('run', 'x.py')", "runs what cannot be read with the magic run"),
        ("get_ipython().run_line_magic(x, 'x.py')", "runs what cannot be read with the magic"),
    ],
)
def test_noticed(text, wanted):
    assert wanted in reason(text)


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nif 'google.colab' in sys.modules:\n    pass",
        "from sys import modules\n'x' in modules",
        "if 'f' not in globals():\n    f = 1",
        "import torch\ntorch.backends.cudnn.deterministic = True\nx = torch.ones(2)\nx.requires_grad = True",
        "import gc\ngc.collect()\nmodel.eval()",
        "class A:\n    def check(self):\n        pass",
        "def f(check):\n    return check",
        "from course_checks import check, failing_case\ncheck('1.1', f)",
        "get_ipython().run_line_magic('matplotlib', 'inline')",
        "def f(exec):\n    return exec",
        "setattr(model, 'a', 1)\nmodel.weight = x",
    ],
)
def test_honest(text):
    assert reason(text) == set()
