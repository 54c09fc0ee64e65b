"""Single nodes that hide what they call, and harmless ones that look like it."""

import ast

import pytest

from course_grader.reading.bindings import bindings_of
from course_grader.reading.obfuscation import obfuscation_in, undefined_name
from course_grader.reading.scopes import ScopedNode, scope_of

SETUP = "import torch, sys, types, inspect, typing, os, operator, pydoc\nfrom course_utils import masks"


def reason(text, mode="eval"):
    tree = ast.parse(text, mode=mode)
    node = tree.body if mode == "eval" else tree.body[0]
    return obfuscation_in(
        ScopedNode(node, scope_of(ast.parse("def f(x): ...").body[0])), bindings_of([(ast.parse(SETUP), 0)])
    )


@pytest.mark.parametrize(
    "text",
    [
        "eval",
        "exec",
        "globals",
        "__import__",
        "getattr",
        "getattr(x, y)",
        "getattr(x, '__globals__')",
        "vars(x)",
        "x.__dict__",
        "x.__globals__",
        "x.f_back",
        "sys.modules",
        "types.CodeType",
        "inspect.getattr_static",
        "os.sys",
        "operator.methodcaller",
        "typing.get_type_hints",
        "torch.jit.script",
        "torch._C",
        "torch.load",
        "torch.os.sys",
        "pydoc.locate",
        "masks.torch._C",
        "df.eval('x')",
    ],
)
def test_hides(text):
    assert reason(text)


@pytest.mark.parametrize(
    "text", ["import importlib", "from pickle import loads", "import my_own_file", "def __torch_function__(): ..."]
)
def test_statements_that_hide(text):
    assert reason(text, "exec")


@pytest.mark.parametrize(
    "text",
    [
        "locals()",
        "vars()",
        "getattr(x, 'T')",
        "getattr(self, f'layer_{i}')",
        "self.__dict__",
        "setattr(x, 'a', 1)",
        "model.eval()",
        "types.SimpleNamespace",
        "inspect.signature",
        "sys.maxsize",
        "torch.ops.aten.exp",
        "x.__class__",
        "operator.itemgetter",
        "masks.causal_mask",
        "os.path.join",
        "int",
    ],
)
def test_harmless(text):
    assert reason(text) is None


@pytest.mark.parametrize(
    "text",
    ["import math", "from functools import partial", "import sys", "from types import SimpleNamespace", "def g(): ..."],
)
def test_harmless_statements(text):
    assert reason(text, "exec") is None


def test_names_from_nowhere():
    bindings = bindings_of([(ast.parse("x = 1"), 0)])
    assert "earlier cell" in undefined_name("_", bindings) and "earlier cell" in undefined_name("Out", bindings)
    assert "nowhere" in undefined_name("helper", bindings) and undefined_name("len", bindings) is None
    assert undefined_name("helper", bindings_of([(ast.parse("from math import *"), 0)])) is None
