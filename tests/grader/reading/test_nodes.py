"""Single nodes: what they name that is off limits, how they hide what they call, what they tamper with.

Whole answers: test_answers.py.
"""

import ast

import pytest

from course_grader.reading.bindings import bindings_of
from course_grader.reading.obfuscation import obfuscation_in, undefined_name
from course_grader.reading.off_limits import banned_name_in, banned_names
from course_grader.reading.scopes import ScopedNode, scope_of
from course_grader.reading.tampering import tampering_in

SETUP = """
import torch, sys, types, inspect, typing, os, operator, pydoc
import torch.nn.functional as F
import numpy as np
from torch import nn
from course_utils import masks
class A:
    def softmax(self): ...
"""
COURSE_ONLY = ("course_utils.masks.causal_mask",)
OFF = ("torch.softmax", "torch.Tensor.softmax", "torch.matmul", "torch.Tensor.matmul", *COURSE_ONLY)


def scoped(text, setup=SETUP):
    """The expression or statement, in a function with arguments ``x``, ``y`` and ``model``; and the bindings."""
    node = ast.parse(text).body[0]
    node = node.value if isinstance(node, ast.Expr) else node
    scope = scope_of(ast.parse("def f(x, y, model): ...").body[0])
    return ScopedNode(node, scope), bindings_of([(ast.parse(setup), 0)])


def banned(text, off=OFF, setup=SETUP):
    return banned_name_in(*scoped(text, setup), banned_names(off))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("F.softmax", "`torch.nn.functional.softmax`"),
        ("nn.Softmax", "`torch.nn.Softmax`"),
        ("torch._softmax", "`torch._softmax`"),
        ("torch.ops.aten._softmax.default", "`torch.ops.aten._softmax.default`"),
        ("x.softmax", "`.softmax`"),
        ("x @ y", "the operator @"),
        ("np.dot", "`numpy.dot`"),
        ("x.dot", "`.dot`"),
        ("getattr(x, 'softmax')", "`getattr` with 'softmax'"),
    ],
)
def test_what_is_off_limits_is_named(text, reason):
    assert banned(text) == reason and banned(text, COURSE_ONLY) is None  # the course's own have no body to borrow


def test_what_only_looks_like_it_is_free():
    for text in ("self.softmax", "A.softmax", "A().softmax", "x.exp", "x + y", "np.exp", "torch.special.expit"):
        assert banned(text) is None, text
    for text in ("getattr(x, 'T')", "print('softmax')"):
        assert banned(text) is None, text
    for text in ("x @ y", "np.dot", "x.dot"):
        assert banned(text, ("torch.softmax",)) is None, text
    off = ("torch.nn.functional.embedding",)  # what is no method of tensors may be one of an argument
    assert banned("model.embedding", off) is None and banned("other.embedding", off) and banned("nn.Embedding", off)


def test_pytorch_through_the_course_is_pytorch():
    assert banned("a.torch.softmax", setup="import course_utils.attention as a")
    assert banned("a.softmax", setup="from course_utils.attention import F as a")


HIDES = {
    "built-in functions": ["eval", "exec", "globals", "__import__", "getattr", "getattr(x, y)", "vars(x)"],
    "attributes": ["x.__dict__", "x.__globals__", "x.f_back", "getattr(x, '__globals__')", "df.eval('x')"],
    "Python's modules": ["sys.modules", "types.CodeType", "inspect.getattr_static", "os.sys", "typing.get_type_hints"],
    "what calls by a text": ["operator.methodcaller", "pydoc.locate"],
    "PyTorch's inner parts": ["torch.jit.script", "torch.load", "torch.os.sys", "torch._VF", "masks.torch._C"],
    "imports": ["import importlib", "from pickle import loads", "import my_own_file"],
    "PyTorch's hooks": ["def __torch_function__(): ..."],
}
HARMLESS = {
    "built-in functions": ["locals()", "vars()", "int", "getattr(x, 'T')", "setattr(x, 'a', 1)"],
    "one's own object": ["getattr(self, f'layer_{i}')", "self.__dict__"],
    "attributes": ["model.eval()", "x.__class__", "torch.ops.aten.exp", "masks.causal_mask"],
    "Python's modules": [
        "types.SimpleNamespace",
        "inspect.signature",
        "sys.maxsize",
        "operator.itemgetter",
        "os.path.join",
    ],
    "imports": ["import math", "from functools import partial", "import sys", "from types import SimpleNamespace"],
    "definitions": ["def g(): ..."],
}


@pytest.mark.parametrize("kind", HIDES)
def test_what_hides_what_it_calls(kind):
    for text in HIDES[kind]:
        assert obfuscation_in(*scoped(text)), text


@pytest.mark.parametrize("kind", HARMLESS)
def test_what_only_looks_as_if_it_hid_something(kind):
    for text in HARMLESS[kind]:
        assert obfuscation_in(*scoped(text)) is None, text


def test_names_from_nowhere():
    bindings = bindings_of([(ast.parse("x = 1"), 0)])
    assert "earlier cell" in undefined_name("_", bindings) and "earlier cell" in undefined_name("Out", bindings)
    assert "nowhere" in undefined_name("helper", bindings) and undefined_name("len", bindings) is None
    assert undefined_name("helper", bindings_of([(ast.parse("from math import *"), 0)])) is None


def tampering(text):
    tree = ast.parse(text)
    return {reason for _, reason in tampering_in(tree, bindings_of([(tree, 0)]))}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import torch\ntorch.isclose = 1", "replaces torch.isclose"),
        ("import torch as t\nsetattr(t, 'isclose', 1)", "replaces torch"),
        ("check = print", "replaces check"),
        ("from a import b as check", "replaces check"),
        ("get_ipython().ast_transformers.append(1)", "reaches for ast_transformers"),
        ("get_ipython().showtraceback = 1", "reaches for showtraceback"),
        ("from sys import modules as m\nm['x']", "reaches for sys.modules"),
        ("import course_checks.running.guard as g", "imports course_checks.running.guard"),
        ("from course_checks import engine", "imports course_checks.engine"),
        ("from course_grader import grade", "imports course_grader.grade"),
        ("import gc\ngc.get_objects()", "reaches for gc.get_objects"),
        ("def g():\n    exec('x')", "uses exec, which reaches what cannot be read"),
        ("open('/proc/self/mem')", "names /proc/self/mem"),
        ("get_ipython().run_line_magic('run', 'x.py')", "runs what cannot be read with the magic run"),
        ("get_ipython().run_line_magic(x, 'x.py')", "runs what cannot be read with the magic"),
    ],
)
def test_tampering(text, reason):
    assert reason in tampering(text)


def test_what_is_no_tampering():
    for text in (
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
    ):
        assert tampering(text) == set(), text
