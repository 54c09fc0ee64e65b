"""What an answer leads to: its own definition and, from there, every definition that it takes from the notebook by name."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .scopes import DEFINITIONS, FUNCTIONS, NOTEBOOK, Placed, Scope, captured, imported, scope_of, walk

MUTATORS = {"append", "extend", "insert", "update", "add", "setdefault", "appendleft", "__setitem__", "__setattr__"}
STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
BUILT_IN = {"object", "list", "dict", "set", "type"}
DEEPEST = 16  # parts of a dotted name, names for a name
Part = tuple[ast.AST, int]  # and the number of the cell that it stands in


@dataclass
class Bindings:
    """Where the names of a notebook get their values.

    Args:
        parts: Name -> what gives it a value, changes it in place or sets a part of it.
        imports: Name -> dotted names of what was imported under it, or of what it is another name for.
        stars: Modules of which everything was imported.
        classes: Name of a class, or of what was made by calling one -> the class's name.
        calls: Name -> where it is called, and what it decorates.
        same: Name -> another name of the same object.
        inner: Names given a value by ``:=``, maybe inside a comprehension, to the function around it.
    """

    parts: dict[str, list[Part]] = field(default_factory=dict)
    imports: dict[str, set[str]] = field(default_factory=dict)
    stars: set[str] = field(default_factory=set)
    classes: dict[str, str] = field(default_factory=dict)
    calls: dict[str, list[Part]] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    inner: set[str] = field(default_factory=set)

    def meanings(self, node: ast.AST, scope: Scope = NOTEBOOK) -> set[str]:
        """``F.softmax`` -> ``{"torch.nn.functional.softmax"}``; empty where no import is at the root."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
            if len(attributes) > DEEPEST:  # the parts nearer to the root are nodes of their own
                return set()
        if not isinstance(node, ast.Name):
            return set()
        holder = scope.holder(node.id)
        found = (self.imports if holder is None else holder.imports).get(node.id, ())
        return {".".join([full, *reversed(attributes)]) for full in found}

    def gives(self, node: ast.AST, attribute: str) -> bool:
        """Whether a node is a class of the notebook, or an object of one, that defines ``attribute`` itself."""
        name = root(node.func if isinstance(node, ast.Call) else node)
        made = self.classes.get(name or "")
        classes = (part for part, _ in self.parts.get(made or "", ()) if isinstance(part, ast.ClassDef))
        return any(_defines(inner, attribute) for part in classes for inner in ast.walk(part))

    def bind(self, name: str, part: ast.AST, cell: int) -> None:
        """Note one more part that gives ``name`` its value."""
        self.parts.setdefault(name, []).append((part, cell))

    def change(self, name: str, part: ast.AST, cell: int) -> None:
        """Note what changes the object that ``name`` stands for, whatever else it is called."""
        for _ in range(DEEPEST):
            if name in self.imports:  # a module's function of that name; who changes a module is noticed for it
                return
            self.bind(name, part, cell)
            if (name := self.same.get(name, "")) == "":
                return


def bindings_of(trees: Iterable[tuple[ast.Module, int]]) -> Bindings:
    """Collect what gives names their values, in all cells.

    Args:
        trees: Each cell's tree, with its number.
    """
    found, trees = Bindings(), list(trees)
    for tree, _ in trees:
        for statement in outer_statements(tree):
            _note_classes_and_names(found, statement)
    for tree, cell in trees:
        for statement in outer_statements(tree):
            _bind(found, statement, cell)
    for tree, cell in trees:
        for statement in outer_statements(tree):
            _note_calls(found, statement, cell)
    for tree, cell in trees:
        for function in _outermost_functions(tree):
            _bind_from_inside(found, function, cell)
    for _ in range(2):
        for tree, _cell in trees:
            for statement in outer_statements(tree):
                _another_name(found, statement)
    return found


def reached(expression: str, bindings: Bindings) -> tuple[list[tuple[Placed, int]], dict[str, tuple[Placed, int]]]:
    """Every node that ``expression`` leads to, with its cell; and the names on the way that nothing gives a value."""
    waiting: list[Part] = [(ast.parse(expression, mode="eval"), -1)]
    seen: set[int] = set()
    names: set[str] = set()
    nodes, unknown = [], {}
    while waiting:
        part, cell = waiting.pop()
        for placed in walk(part, seen):
            node = placed.node
            nodes.append((placed, cell))
            if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or node.id in names:
                continue
            if placed.scope.holder(node.id) is not None:
                continue
            names.add(node.id)
            targets = bindings.parts.get(node.id, [])
            waiting += targets
            for target, _ in targets:
                for name in _functions_made(target) - {node.id}:  # they change what the name stands for
                    waiting += bindings.calls.get(name, [])
            if not targets and node.id not in bindings.imports and node.id not in bindings.inner:
                unknown[node.id] = (placed, cell)
    return nodes, unknown


def _functions_made(part: ast.AST) -> set[str]:
    if isinstance(part, FUNCTIONS):
        return {part.name}
    if isinstance(part, ast.Assign) and isinstance(part.value, ast.Lambda):
        return {target.id for target in part.targets if isinstance(target, ast.Name)}
    return set()


def outer_statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Statements outside functions and classes, those inside ``if``, ``for``, ``try`` and so on included."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, STATEMENTS):
                yield child
                if not isinstance(child, DEFINITIONS):
                    waiting.append(child)


def root(node: ast.AST) -> str | None:
    """``a`` of ``a.b[0].c``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _defines(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == name and isinstance(node.ctx, ast.Store) and root(node) in ("self", "cls")
    return getattr(node, "name", getattr(node, "id", "")) == name and isinstance(node, (*DEFINITIONS, ast.Name))


def _note_classes_and_names(found: Bindings, statement: ast.AST) -> None:
    if isinstance(statement, ast.ClassDef):
        found.classes[statement.name] = statement.name
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
        found.same |= {one.id: statement.value.id for one in statement.targets if isinstance(one, ast.Name)}
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        made = found.classes.get(root(statement.value.func) or "")
        found.classes |= {one.id: made for one in statement.targets if made and isinstance(one, ast.Name)}


def _bind(found: Bindings, statement: ast.AST, cell: int) -> None:
    if isinstance(statement, DEFINITIONS):
        found.bind(statement.name, statement, cell)
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        for name, full in imported(statement):
            if name == "*":
                found.stars.add(full.removesuffix(".*"))
            else:
                found.imports.setdefault(name, set()).add(full)
    elif isinstance(statement, ast.Match):
        for case in statement.cases:
            for name in (name for node in ast.walk(case.pattern) for name in captured(node)):
                found.bind(name, statement.subject, cell)
                found.bind(name, case.pattern, cell)
    else:
        head = _head(statement)
        for node in _own_nodes(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.bind(node.id, head, cell)
            elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
                found.change(root(node) or "", head, cell)
            for name in captured(node):
                found.bind(name, head, cell)


def _outermost_functions(tree: ast.AST) -> Iterator[ast.AST]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, FUNCTIONS):
            yield node
        else:
            waiting += ast.iter_child_nodes(node)


def _note_calls(found: Bindings, statement: ast.AST, cell: int) -> None:
    """What a statement calls, and what it changes by that. A definition is taken whole: its variables are its own."""
    whole = isinstance(statement, DEFINITIONS)
    seen = set() if whole else {id(node) for node in ast.iter_child_nodes(statement) if isinstance(node, STATEMENTS)}
    for placed in walk(statement, seen):
        node = placed.node
        outer = placed.scope is NOTEBOOK
        part = node if outer and not whole else _head(statement)
        if isinstance(node, ast.NamedExpr):
            found.inner.add(node.target.id)
        elif isinstance(node, ast.Call):
            if name := root(node.func):
                found.calls.setdefault(name, []).append((part, cell))
                if isinstance(node.func, ast.Attribute) and name in found.classes and outer:
                    found.change(name, node, cell)
            for name in _changed(node) if not whole else ():
                if placed.scope.holder(name) is None:
                    found.change(name, part, cell)
        for decorator in getattr(node, "decorator_list", ()):
            if name := root(decorator.func if isinstance(decorator, ast.Call) else decorator):
                found.calls.setdefault(name, []).append((part, cell))


def _bind_from_inside(found: Bindings, function: ast.AST, cell: int) -> None:
    """What a function changes that is not its own: a ``global``, a list that it appends to, its arguments."""
    own, outside = scope_of(function), set()
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal):
            outside |= set(node.names)
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            outside.add(root(node) or "")
        outside |= set(_changed(node))
    for name in outside - own.names:
        found.change(name, function, cell)
    if outside & own.arguments:
        for call, place in found.calls.get(function.name, ()):
            for argument in call.args if isinstance(call, ast.Call) else ():  # else it decorates
                if name := root(argument):
                    found.change(name, call, place)


def _own_nodes(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that are not in a statement inside it."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, STATEMENTS):
                waiting.append(child)


def _changed(node: ast.AST) -> list[str]:
    """What a call changes in place: ``a`` of ``a.append(x)``, ``setattr(a, "b", x)``, ``list.append(a, x)``."""
    if not isinstance(node, ast.Call):
        return []
    name = None
    if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        name = root(node.func.value)
        if name in BUILT_IN and node.args:
            name = root(node.args[0])
    elif isinstance(node.func, ast.Name) and node.func.id == "setattr" and node.args:
        name = root(node.args[0])
    return [name] if name else []


def _head(statement: ast.AST) -> ast.AST:
    """Of a compound statement what its names come from."""
    if isinstance(statement, ast.With | ast.AsyncWith):
        return ast.Tuple([item.context_expr for item in statement.items], ast.Load())
    if isinstance(statement, ast.ExceptHandler):
        return statement.type or ast.Constant(None)
    return getattr(statement, "iter", None) or getattr(statement, "test", None) or statement


def _another_name(found: Bindings, statement: ast.AST) -> None:
    """``t = torch``: ``t`` means what ``torch`` means."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return
    if not isinstance(statement.value, ast.Name | ast.Attribute) or not (meanings := found.meanings(statement.value)):
        return
    for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
        if isinstance(target, ast.Name):
            known = found.imports.setdefault(target.id, set())
            known |= set(sorted(meanings)[: max(0, DEEPEST - len(known))])
