"""What an answer reaches: of all statements of a notebook those that its name, and whatever they name in turn, come from.

Names are taken as they are spelled: a function's own variable counts as the notebook's variable of that name. So a little
more is reached than Python needs; what gets a value in no statement that can be read (``globals()["f"] = ...``) is not.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .cells import CellCode

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
IMPORTS = (ast.Import, ast.ImportFrom)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Statement:
    """One statement outside functions and classes.

    Args:
        node: Its syntax tree.
        cell: The number of its cell.
        binds: The names that it gives a value or changes the value of.
        needs: The names that it mentions.
    """

    node: ast.stmt
    cell: int
    binds: frozenset[str]
    needs: frozenset[str]


def statements_of(cells: Iterable[tuple[int, CellCode]]) -> list[Statement]:
    """The statements of all cells that can be read, in order.

    Args:
        cells: Number of the cell -> what was read of it.
    """
    nodes = [(node, cell) for cell, code in cells if code.tree is not None for node in code.tree.body]
    functions: dict[str, set[str]] = {}  # what calling a function of the notebook changes
    for node, _ in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, FUNCTIONS[:2]):
                functions.setdefault(inner.name, set()).update(_changed(inner.body, {}), _declared_global(inner))
    imported = {
        name for tree, _ in nodes for node in ast.walk(tree) if isinstance(node, IMPORTS) for name in _imported(node)
    }  # who changes a module, or a function of one, changes nothing that belongs to the notebook
    return [
        Statement(node, cell, frozenset(_bound(node) | (_changed(node, functions) - imported)), frozenset(_named(node)))
        for node, cell in nodes
    ]


def reached(expression: str, statements: list[Statement]) -> list[Statement]:
    """The statements that an expression leads to, in the notebook's order; ``import *`` and ``from __future__`` always.

    Args:
        expression: What the check looks at, such as ``softmax``.
        statements: Those that ran before it.
    """
    names = _named(ast.parse(expression, mode="eval"))
    inside = [isinstance(one.node, ast.ImportFrom) and _is_for_all(one.node) for one in statements]
    found = True
    while found:
        found = False
        for place, one in enumerate(statements):
            if not inside[place] and not names.isdisjoint(one.binds):
                inside[place] = found = True
                names |= one.needs
    return [one for place, one in enumerate(statements) if inside[place]]


def _is_for_all(node: ast.ImportFrom) -> bool:
    return node.module == "__future__" or any(alias.name == "*" for alias in node.names)


def _named(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _bound(statement: ast.stmt) -> set[str]:
    """The names that running a statement gives a value."""
    names = _declared_global(statement)
    for node in _outside_functions(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs):
            names.add(node.name or "")
        elif isinstance(node, IMPORTS):
            names |= _imported(node)
        elif isinstance(node, ast.MatchStar | ast.MatchMapping):
            names.add(getattr(node, "name", None) or getattr(node, "rest", None) or "")
    return names - {""}


def _changed(run: ast.stmt | list[ast.stmt], functions: dict[str, set[str]]) -> set[str]:
    """The names of the objects that something is stored into, or that something is called on or with.

    Args:
        run: A statement, or the body of a function that is called.
        functions: Function of the notebook -> what a call of it changes besides its arguments.
    """
    names: set[str] = set()
    is_body = isinstance(run, list)
    for node in (node for one in run for node in ast.walk(one)) if is_body else _outside_functions(run):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(_root(node))
        for decorator in getattr(node, "decorator_list", ()):
            names |= functions.get(_root(decorator.func if isinstance(decorator, ast.Call) else decorator), set())
        if not isinstance(node, ast.Call):
            continue
        name = _root(node.func)
        names |= functions.get(name, set()) | ({name} if isinstance(node.func, ast.Attribute) else set())
        is_known = name in functions or name in ("setattr", "delattr") or isinstance(node.func, ast.Attribute)
        if is_known and (is_body or isinstance(run, ast.Expr)):  # what it returns is not looked at
            names |= {_root(part) for part in (*node.args, *(keyword.value for keyword in node.keywords))}
    return names - {""}


def _declared_global(tree: ast.AST) -> set[str]:
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}


def _imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    return {alias.asname or alias.name.partition(".")[0] for alias in node.names} - {"*"}


def _root(node: ast.AST) -> str:
    """``a`` of ``a.b[0].c``; empty where no name is at the root."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _outside_functions(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that run when it runs; a comprehension's own variables are left out."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, FUNCTIONS):
            waiting += [*getattr(node, "decorator_list", ()), *node.args.defaults]
        elif isinstance(node, COMPREHENSIONS):
            waiting += [child for child in ast.walk(node) if isinstance(child, ast.NamedExpr | ast.Call)]
        else:
            waiting += ast.iter_child_nodes(node)
