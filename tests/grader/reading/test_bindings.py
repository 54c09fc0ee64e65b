"""Whose variable a name is, and from an answer's name to every definition that it leads to."""

import ast
import symtable

import pytest

from course_grader.reading.bindings import bindings_of, outer_statements, reachable_nodes, root_name
from course_grader.reading.scopes import imported, scope_of, walk


def reach(*texts):
    """The texts of the string constants that ``f`` leads to, and the names that nothing gives a value."""
    bindings = bindings_of((ast.parse(text), cell) for cell, text in enumerate(texts))
    nodes, unknown = reachable_nodes("f", bindings)
    constants = {p.node.value for p, _ in nodes if isinstance(p.node, ast.Constant) and isinstance(p.node.value, str)}
    return constants, set(unknown)


@pytest.mark.parametrize(
    "texts",
    [
        ("f = 'yes'",),
        ("def f(x):\n    return 'yes'",),
        ("def f(x):\n    return g\n", "g = 'yes'"),
        ("if a:\n    f = 'yes'",),
        ("f = []\nf.append('yes')",),
        ("f = []\nlist.append(f, 'yes')",),
        ("f = {}\nf['a'] = 'yes'",),
        ("class f:\n    pass\nf.a = 'yes'",),
        ("class f:\n    pass\nsetattr(f, 'a', 'yes')",),
        ("f = []\ng = f\ng.append('yes')",),
        ("f = 1\ndef g():\n    global f\n    f = 'yes'",),
        ("f = []\ndef g(x):\n    f.append(x)\ng('yes')",),
        ("f = []\ndef g(t, x):\n    t.append(x)\ng(f, 'yes')",),
        ("f = []\ng = lambda x: f.append(x)\ng('yes')",),
        ("f = []\ndef g(x):\n    f.append(x)\n@g\ndef h():\n    'yes'",),
        ("class A:\n    def put(self, x):\n        self.x = x\nf = A()\nf.put('yes')",),
        ("for f in ['yes']:\n    pass",),
        ("with g('yes') as f:\n    pass",),
        ("match 'yes':\n    case f:\n        pass",),
        ("match g:\n    case A('yes') as f:\n        pass",),
        ("(f := 'yes')",),
        ("f: str = 'yes'",),
        ("f, (g, *h) = 'yes'",),
        ("f += 'yes'",),
        ("try:\n    pass\nexcept g('yes') as f:\n    pass",),
    ],
)
def test_what_a_name_stands_for_is_found(texts):
    assert "yes" in reach(*texts)[0]


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    w = x\n    return w\nw = 'no'",
        "def f():\n    pass\nprint(f, 'no')",
        "f = 1\ndef g(f):\n    f.append('no')",
        "import torch\ndef f(x):\n    return torch\ntorch.add(1, 'no')",
    ],
)
def test_what_only_stands_beside_it_is_not(text):
    assert reach(text)[0] <= {"a"}


def test_names_that_nothing_gives_a_value():
    assert reach("import a\ndef f(x, y=z):\n    return a, x, b, [c for c in d if (e := c)], e")[1] == {"z", "b", "d"}


def test_meanings():
    tree = ast.parse("import torch.nn.functional as F\nfrom torch import softmax\nt = F\nt.relu\nsoftmax\nx.y\nt.a().b")
    bindings = bindings_of([(tree, 0)])
    assert [bindings.qualified_names(statement.value) for statement in tree.body[3:]] == [
        {"torch.nn.functional.relu"},
        {"torch.softmax"},
        set(),
        set(),
    ]
    deep = ast.parse("F" + ".a" * 100, mode="eval").body
    assert bindings.qualified_names(deep) == set()


def test_a_class_gives_what_it_defines_itself():
    text = "class A(B):\n    def g(self):\n        self.h = 1\n    k = 2\na = A()"
    bindings = bindings_of([(ast.parse(text), 0)])
    for of in ("A", "a", "A()"):
        node = ast.parse(of, mode="eval").body
        assert [bindings.defines_attribute(node, name) for name in ("g", "h", "k", "i")] == [True, True, True, False]


def test_outer_statements_of_a_long_chain():
    tree = ast.parse("if a: pass\n" + "elif a: pass\n" * 1_500 + "else:\n    def f():\n        x = 1")
    assert sum(isinstance(statement, ast.If) for statement in outer_statements(tree)) == 1_501
    assert not any(isinstance(statement, ast.Assign) for statement in outer_statements(tree))


def test_root():
    assert (
        root_name(ast.parse("a.b[0].c", mode="eval").body) == "a"
        and root_name(ast.parse("a().b", mode="eval").body) is None
    )


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


def _taken(table):
    """Names that a function or class, or what is in it, takes from the notebook, as the compiler knows it."""
    names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    return names.union(*[_taken(child) for child in table.get_children()])


@pytest.mark.parametrize("text", TEXTS)
def test_the_names_that_a_definition_takes_from_the_notebook(text):
    """Held to what Python's own compiler says."""
    nodes = walk(ast.parse(text).body[0], set())
    loads = [s for s in nodes if isinstance(s.node, ast.Name) and isinstance(s.node.ctx, ast.Load)]
    taken = {scoped.node.id for scoped in loads if scoped.scope.owner(scoped.node.id) is None}
    table = symtable.symtable(text, "", "exec")
    outer = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    assert taken == _taken(table.get_children()[0]) | outer


def test_each_node_comes_once():
    tree = ast.parse(TEXTS[0])
    seen = set()
    first = [scoped.node for scoped in walk(tree, seen)]
    assert len(first) == len(list(ast.walk(tree))) and not [s for s in walk(tree, seen) if isinstance(s.node, ast.stmt)]


def test_a_scope_s_imports_and_what_is_called():
    tree = ast.parse("def f(x):\n    from torch import softmax as s\n    y = 1\n    return g(x, y)")
    assert scope_of(tree.body[0]).imports == {"s": {"torch.softmax"}}
    assert [scoped.node.id for scoped in walk(tree, set()) if scoped.called] == ["g"]


def test_imported():
    tree = ast.parse("import a.b, c.d as e\nfrom f import g, h as i\nfrom j import *")
    pairs = [("a", "a"), ("e", "c.d"), ("g", "f.g"), ("i", "f.h"), ("*", "j.*")]
    assert [pair for node in tree.body for pair in imported(node)] == pairs
