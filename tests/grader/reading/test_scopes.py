"""Whose variable a name is, held to what Python's own compiler says."""

import ast
import symtable

import pytest

from course_grader.reading.scopes import GLOBAL_SCOPE, imported, scope_of, walk

TEXTS = [
    "def f(a, *b, c=d, **e):\n    g = h\n    return i",
    "def f():\n    s\n    def g():\n        s = 1\n        return s",
    "def f():\n    global s, t\n    s = 1\n    def g():\n        nonlocal_ = s\n    t",
    "def f(x):\n    def g():\n        nonlocal x\n        x = y\n    return g",
    "class A:\n    s = 1\n    def f(self):\n        return s",
    "def f():\n    return [s for s in s if s], {k: v for k, v in w}, (lambda s: s + t)(s)",
    "def f(s=s):\n    return s",
    "def f():\n    for i in range(3):\n        with a as b:\n            pass\n    return i, b",
    "def f():\n    try:\n        pass\n    except E as e:\n        return e",
    "def f(p):\n    match p:\n        case [a, *b]:\n            return a, b",
    "def f(p):\n    match p:\n        case {'k': v, **rest}:\n            return v, rest",
    "def f():\n    from torch import softmax as s\n    import os.path\n    return s, os",
]


def _free(table):
    """Names that a function or class, or what is in it, takes from the notebook, as the compiler knows it."""
    names = {one.get_name() for one in table.get_symbols() if one.is_global() and one.is_referenced()}
    return names.union(*[_free(child) for child in table.get_children()])


@pytest.mark.parametrize("text", TEXTS)
def test_the_names_that_a_definition_takes_from_the_notebook(text):
    found = {
        scoped.node.id
        for scoped in walk(ast.parse(text).body[0], set())
        if isinstance(scoped.node, ast.Name)
        and isinstance(scoped.node.ctx, ast.Load)
        and scoped.scope.owner(scoped.node.id) is None
    }
    table = symtable.symtable(text, "", "exec")
    outer = {one.get_name() for one in table.get_symbols() if one.is_referenced()}
    assert found == _free(table.get_children()[0]) | outer


def test_each_node_comes_once():
    tree = ast.parse(TEXTS[0])
    seen = set()
    first = [scoped.node for scoped in walk(tree, seen)]
    assert len(first) == len(list(ast.walk(tree))) and not [p for p in walk(tree, seen) if isinstance(p.node, ast.stmt)]


def test_arguments_imports_and_called():
    tree = ast.parse("def f(x):\n    from torch import softmax as s\n    y = 1\n    return g(x, y)")
    scope = scope_of(tree.body[0])
    assert scope.imports == {"s": {"torch.softmax"}} and scope.is_argument("x") and not scope.is_argument("y")
    called = [scoped.node.id for scoped in walk(tree, set()) if scoped.called]
    assert called == ["g"] and GLOBAL_SCOPE.owner("x") is None


def test_imported():
    found = [
        pair
        for node in ast.parse("import a.b, c.d as e\nfrom f import g, h as i\nfrom j import *").body
        for pair in imported(node)
    ]
    assert found == [("a", "a"), ("e", "c.d"), ("g", "f.g"), ("i", "f.h"), ("*", "j.*")]
