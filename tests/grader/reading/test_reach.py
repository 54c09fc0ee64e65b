"""From an answer's name to every statement that it leads to."""

import ast

import pytest

from course_grader.reading.cells import read_cell
from course_grader.reading.reach import reached, statements_of


def reach(*texts, name="f"):
    """The statements that ``name`` leads to, each as text."""
    statements = statements_of((cell, read_cell(text)) for cell, text in enumerate(texts))
    return [ast.unparse(one.node) for one in reached(name, statements)]


@pytest.mark.parametrize(
    "texts",
    [
        ("f = 'yes'",),
        ("def f(x):\n    return 'yes'",),
        ("def f(x):\n    return g\n", "g = 'yes'"),
        ("f = later('yes')", "def later(x): return x"),
        ("if a:\n    f = 'yes'",),
        ("f = []\nf.append('yes')",),
        ("f = []\nlist.append(f, 'yes')",),
        ("f = {}\nf['a'] = 'yes'",),
        ("class f:\n    pass\nf.a = 'yes'",),
        ("class f:\n    pass\nsetattr(f, 'a', 'yes')",),
        ("f = []\ng = f\ng.append('yes')\nf = g",),
        ("f = 1\ndef g():\n    global f\n    f = 'yes'",),
        ("f = []\ndef g(x):\n    f.append(x)\ng('yes')",),
        ("f = []\ndef g(t, x):\n    t.append(x)\ng(f, 'yes')",),
        ("f = []\ndef g(x):\n    f.append(x)\n@g\ndef h():\n    'yes'",),
        ("class A:\n    def put(self, x):\n        self.x = x\nf = A()\nf.put('yes')",),
        ("for f in ['yes']:\n    pass",),
        ("with g('yes') as f:\n    pass",),
        ("match 'yes':\n    case f:\n        pass",),
        ("match g:\n    case {'yes': 1, **f}:\n        pass",),
        ("(f := 'yes')",),
        ("[f := x for x in ['yes']]",),
        ("f: str = 'yes'",),
        ("f, (g, *h) = 'yes'",),
        ("f += 'yes'",),
        ("try:\n    pass\nexcept g('yes') as f:\n    pass",),
        ("def f():\n    return yes()", "from m import yes"),
        ("def f():\n    return m.yes()", "import m.yes"),
        ("from yes import *", "def f():\n    pass"),
        ("from __future__ import yes", "def f():\n    pass"),
        ("%%time\ndef f():\n    return 'yes'",),
    ],
)
def test_what_a_name_comes_from_is_found(texts):
    assert "yes" in "\n".join(reach(*texts))


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    pass\nprint(f, 'no')",
        "def f(x):\n    return x.a()\ndef no(x):\n    return x.b()",
        "import torch\ndef f(x):\n    return torch\ntorch.add = 'no'",
        "def f(x):\n    return x\nassert f('no') == 'no'",
        "def f(x):\n    return x\nvars()['f'] = 'no'",
        "def f(x):\n    return x\nno = [f(x) for x in 'no']",
    ],
)
def test_what_only_stands_beside_it_is_not(text):
    assert "no" not in "\n".join(reach(text))


def test_statements_come_in_the_notebooks_order():
    assert reach("a = 1", "f = a + b", "c = 3", "b = a") == ["a = 1", "f = a + b", "b = a"]


def test_a_cell_that_cannot_be_read_is_left_out():
    assert reach("f = = 1", "f = 2") == ["f = 2"]
