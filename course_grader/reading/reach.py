"""What an answer reaches: of all statements of a notebook those that its name, and whatever they name in turn, come from.

Names are taken as they are spelled: a function's own variable counts as the notebook's variable of that name. So a little
more is reached than Python needs; what gets a value in no statement that can be read (``globals()["f"] = ...``) is not.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from .cells import FUNCTIONS, CellCode, bound_names, imported_names, outside_functions

IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Statement:
    """One statement outside functions and classes."""

    node: ast.stmt
    cell: int  # the number of its cell
    binds: frozenset[str]  # the names that it gives a value or changes the value of
    needs: frozenset[str]  # the names that it mentions


def statements_of(cells: Iterable[tuple[int, CellCode]]) -> list[Statement]:
    """The statements of all cells that can be read, in order."""
    nodes = [(node, cell) for cell, code in cells if code.tree is not None for node in code.tree.body]
    functions: dict[str, set[str]] = {}  # what calling a function of the notebook changes
    for node, _ in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, FUNCTIONS):
                functions.setdefault(inner.name, set()).update(_changed(inner.body, {}), _declared_global(inner))
    imports = (inner for node, _ in nodes for inner in ast.walk(node) if isinstance(inner, IMPORTS))
    # Who changes a module, or a function of one, changes nothing that belongs to the notebook.
    imported = {name for node in imports for name in imported_names(node)}
    return [
        Statement(
            node,
            cell,
            frozenset(bound_names(node) | _declared_global(node) | (_changed(node, functions) - imported)),
            frozenset(_named(node)),
        )
        for node, cell in nodes
    ]


def reached(expression: str, statements: list[Statement]) -> list[Statement]:
    """The statements that an expression leads to, in the notebook's order; ``import *`` and ``from __future__`` always."""
    names = _named(ast.parse(expression, mode="eval"))
    imports = [one.node if isinstance(one.node, ast.ImportFrom) else None for one in statements]
    inside = [node is not None and (node.module == "__future__" or node.names[0].name == "*") for node in imports]
    found = True
    while found:
        found = False
        for place, one in enumerate(statements):
            if not inside[place] and not names.isdisjoint(one.binds):
                inside[place] = found = True
                names |= one.needs
    return [one for place, one in enumerate(statements) if inside[place]]


def _named(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _changed(run: ast.stmt | list[ast.stmt], functions: dict[str, set[str]]) -> set[str]:
    """The names of the objects that something is stored into, or that something is called on or with.

    ``run`` is a statement, or the body of a function that is called. A call of one of ``functions`` of the notebook changes
    these names besides its arguments.
    """
    names: set[str] = set()
    is_body = isinstance(run, list)
    for node in (node for one in run for node in ast.walk(one)) if is_body else outside_functions(run):
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


def _root(node: ast.AST) -> str:
    """``a`` of ``a.b[0].c``; empty where no name is at the root."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
