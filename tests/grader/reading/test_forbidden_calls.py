"""Single nodes: what they use, and what they tamper with. Whole answers: test_reading.py."""

import ast

import pytest

from course_grader.reading.forbidden_calls import dotted, off_limits_in, tampering_in

IMPORTS = {
    "F": "torch.nn.functional",
    "torch": "torch",
    "np": "numpy",
    "masked": "course_utils.attention.masked_softmax",
}
OFF = (
    "torch.softmax",
    "torch.Tensor.softmax",
    "torch.matmul",
    "torch.Tensor.matmul",
    "course_utils.attention.masked_softmax",
)


def node(text):
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("F.softmax", "`torch.nn.functional.softmax`"),
        ("masked", "`course_utils.attention.masked_softmax`"),
        ("x.softmax", "`.softmax`"),
        ("x @ y", "the operator @"),
        ("np.dot", "`numpy.dot`"),
        ("torch.ops.aten.exp", "`torch.ops.aten.exp`"),
        ("torch._C", "`torch._C`"),
        ("getattr(x, 'softmax')", "`getattr` with 'softmax'"),
        ("getattr(x, y)", "`getattr` with a name that cannot be read"),
        ("eval", "`eval`"),
        ("f.__globals__", "`.__globals__`"),
        ("self.softmax", None),
        ("x.exp", None),
        ("x + y", None),
        ("np.exp", None),
        ("getattr(x, 'T')", None),
    ],
)
def test_off_limits(text, said):
    assert off_limits_in(node(text), IMPORTS, OFF) == said


def test_products_are_free_where_they_are_not_off_limits():
    for text in ("x @ y", "np.dot", "x.dot"):
        assert off_limits_in(node(text), IMPORTS, ("torch.softmax",)) is None


def test_dotted_names():
    assert dotted(node("F.a.b"), IMPORTS) == "torch.nn.functional.a.b"
    assert dotted(node("x.a"), IMPORTS) is None and dotted(node("f().a"), IMPORTS) is None


def test_tampering():
    store = ast.parse("torch.isclose = 1").body[0].targets[0]
    assert tampering_in(store, IMPORTS) == "replaces torch.isclose"
    assert tampering_in(node("x.y"), IMPORTS) is None
