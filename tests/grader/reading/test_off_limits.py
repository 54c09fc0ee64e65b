"""Single nodes: what of PyTorch and other libraries they name. Whole answers: test_answers.py."""

import ast

import pytest

from course_grader.reading.bindings import bindings_of
from course_grader.reading.off_limits import banned_name_in, banned_names
from course_grader.reading.scopes import ScopedNode, scope_of

SETUP = """
import torch
import torch.nn.functional as F
import numpy as np
from torch import nn
class A:
    def softmax(self): ...
"""
OFF = (
    "torch.softmax",
    "torch.Tensor.softmax",
    "torch.matmul",
    "torch.Tensor.matmul",
    "course_utils.attention.masked_softmax",
)


def reason(text, off=OFF):
    bindings = bindings_of([(ast.parse(SETUP), 0)])
    scope = scope_of(ast.parse("def f(x, y, model): ...").body[0])
    return banned_name_in(ScopedNode(ast.parse(text, mode="eval").body, scope), bindings, banned_names(off))


@pytest.mark.parametrize(
    ("text", "wanted"),
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
        ("self.softmax", None),
        ("A.softmax", None),
        ("A().softmax", None),
        ("x.exp", None),
        ("x + y", None),
        ("np.exp", None),
        ("torch.special.expit", None),
        ("getattr(x, 'T')", None),
        ("print('softmax')", None),
    ],
)
def test_what_a_node_names(text, wanted):
    assert reason(text) == wanted


def test_products_are_free_where_they_are_not_off_limits():
    for text in ("x @ y", "np.dot", "x.dot"):
        assert reason(text) and reason(text, ("torch.softmax",)) is None


def test_what_is_no_method_of_tensors_may_be_one_of_an_argument():
    off = ("torch.nn.functional.embedding",)
    assert reason("model.embedding", off) is None and reason("other.embedding", off) and reason("nn.Embedding", off)


def test_functions_of_the_course_are_not_read_for():
    banned = banned_names(("course_utils.masks.causal_mask",))
    assert not banned.names and reason("F.softmax", ("course_utils.masks.causal_mask",)) is None


@pytest.mark.parametrize("text", ["import course_utils.attention as a", "from course_utils.attention import F as a"])
def test_pytorch_through_the_course_is_pytorch(text):
    bindings = bindings_of([(ast.parse(text), 0)])
    node = ast.parse("a.torch.softmax" if "as a" in text and "F" not in text else "a.softmax", mode="eval").body
    assert banned_name_in(ScopedNode(node, scope_of(ast.parse("lambda: 0").body[0].value)), bindings, banned_names(OFF))
