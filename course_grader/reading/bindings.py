"""What an answer leads to: its own definition and, from there, every definition that it takes from the notebook by name."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .scopes import DEFINITIONS, FUNCTIONS, GLOBAL_SCOPE, Scope, ScopedNode, captured, imported, scope_of, walk

MUTATORS = {"append", "extend", "insert", "update", "add", "setdefault", "appendleft", "__setitem__", "__setattr__"}
STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
BUILT_IN = {"object", "list", "dict", "set", "type"}
DEEPEST = 16  # parts of a dotted name, names for a name
Part = tuple[ast.AST, int]  # and the number of the cell that it stands in


@dataclass
class Bindings:
    """Where the names of a notebook get their values.

    Args:
        definitions: Name -> what gives it a value, changes it in place or sets a part of it.
        imports: Name -> dotted names of what was imported under it, or of what it is another name for.
        star_imports: Modules of which everything was imported.
        classes: Name of a class, or of what was made by calling one -> the class's name.
        calls: Name -> where it is called, and what it decorates.
        aliases: Name -> another name of the same object.
        walrus_targets: Names given a value by ``:=``, maybe inside a comprehension, to the function around it.
    """

    definitions: dict[str, list[Part]] = field(default_factory=dict)
    imports: dict[str, set[str]] = field(default_factory=dict)
    star_imports: set[str] = field(default_factory=set)
    classes: dict[str, str] = field(default_factory=dict)
    calls: dict[str, list[Part]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    walrus_targets: set[str] = field(default_factory=set)

    def qualified_names(self, node: ast.AST, scope: Scope = GLOBAL_SCOPE) -> set[str]:
        """``F.softmax`` -> ``{"torch.nn.functional.softmax"}``; empty where no import is at the root."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
            if len(attributes) > DEEPEST:  # the parts nearer to the root are nodes of their own
                return set()
        if not isinstance(node, ast.Name):
            return set()
        owner = scope.owner(node.id)
        bindings = (self.imports if owner is None else owner.imports).get(node.id, ())
        return {".".join([full, *reversed(attributes)]) for full in bindings}

    def defines_attribute(self, node: ast.AST, attribute: str) -> bool:
        """Whether a node is a class of the notebook, or an object of one, that defines ``attribute`` itself."""
        name = root_name(node.func if isinstance(node, ast.Call) else node)
        made = self.classes.get(name or "")
        classes = (part for part, _ in self.definitions.get(made or "", ()) if isinstance(part, ast.ClassDef))
        return any(_defines(inner, attribute) for part in classes for inner in ast.walk(part))

    def add_definition(self, name: str, part: ast.AST, cell: int) -> None:
        """Note one more part that gives ``name`` its value."""
        self.definitions.setdefault(name, []).append((part, cell))

    def add_change(self, name: str, part: ast.AST, cell: int) -> None:
        """Note what changes the object that ``name`` stands for, whatever else it is called."""
        for _ in range(DEEPEST):
            if name in self.imports:  # a module's function of that name; who changes a module is noticed for it
                return
            self.add_definition(name, part, cell)
            if (name := self.aliases.get(name, "")) == "":
                return


def bindings_of(trees: Iterable[tuple[ast.Module, int]]) -> Bindings:
    """Collect what gives names their values, in all cells.

    Args:
        trees: Each cell's tree, with its number.
    """
    bindings, trees = Bindings(), list(trees)
    for tree, _ in trees:
        for statement in outer_statements(tree):
            _note_classes_and_names(bindings, statement)
    for tree, cell in trees:
        for statement in outer_statements(tree):
            _bind(bindings, statement, cell)
    for tree, cell in trees:
        for statement in outer_statements(tree):
            _note_calls(bindings, statement, cell)
    for tree, cell in trees:
        for function in _outermost_functions(tree):
            _bind_from_inside(bindings, function, cell)
    for _ in range(2):
        for tree, _cell in trees:
            for statement in outer_statements(tree):
                _another_name(bindings, statement)
    return bindings


def reachable_nodes(
    expression: str, bindings: Bindings
) -> tuple[list[tuple[ScopedNode, int]], dict[str, tuple[ScopedNode, int]]]:
    """Every node that ``expression`` leads to, with its cell; and the names on the way that nothing gives a value."""
    waiting: list[Part] = [(ast.parse(expression, mode="eval"), -1)]
    seen: set[int] = set()
    names: set[str] = set()
    nodes, unknown = [], {}
    while waiting:
        part, cell = waiting.pop()
        for scoped in walk(part, seen):
            node = scoped.node
            nodes.append((scoped, cell))
            if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or node.id in names:
                continue
            if scoped.scope.owner(node.id) is not None:
                continue
            names.add(node.id)
            targets = bindings.definitions.get(node.id, [])
            waiting += targets
            for target, _ in targets:
                for name in _functions_made(target) - {node.id}:  # they change what the name stands for
                    waiting += bindings.calls.get(name, [])
            if not targets and node.id not in bindings.imports and node.id not in bindings.walrus_targets:
                unknown[node.id] = (scoped, cell)
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


def root_name(node: ast.AST) -> str | None:
    """``a`` of ``a.b[0].c``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _defines(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == name and isinstance(node.ctx, ast.Store) and root_name(node) in ("self", "cls")
    return getattr(node, "name", getattr(node, "id", "")) == name and isinstance(node, (*DEFINITIONS, ast.Name))


def _note_classes_and_names(bindings: Bindings, statement: ast.AST) -> None:
    if isinstance(statement, ast.ClassDef):
        bindings.classes[statement.name] = statement.name
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
        bindings.aliases |= {
            target.id: statement.value.id for target in statement.targets if isinstance(target, ast.Name)
        }
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        made = bindings.classes.get(root_name(statement.value.func) or "")
        bindings.classes |= {target.id: made for target in statement.targets if made and isinstance(target, ast.Name)}


def _bind(bindings: Bindings, statement: ast.AST, cell: int) -> None:
    if isinstance(statement, DEFINITIONS):
        bindings.add_definition(statement.name, statement, cell)
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        for name, full in imported(statement):
            if name == "*":
                bindings.star_imports.add(full.removesuffix(".*"))
            else:
                bindings.imports.setdefault(name, set()).add(full)
    elif isinstance(statement, ast.Match):
        for case in statement.cases:
            for name in (name for node in ast.walk(case.pattern) for name in captured(node)):
                bindings.add_definition(name, statement.subject, cell)
                bindings.add_definition(name, case.pattern, cell)
    else:
        head = _head(statement)
        for node in _own_nodes(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bindings.add_definition(node.id, head, cell)
            elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
                bindings.add_change(root_name(node) or "", head, cell)
            for name in captured(node):
                bindings.add_definition(name, head, cell)


def _outermost_functions(tree: ast.AST) -> Iterator[ast.AST]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, FUNCTIONS):
            yield node
        else:
            waiting += ast.iter_child_nodes(node)


def _note_calls(bindings: Bindings, statement: ast.AST, cell: int) -> None:
    """What a statement calls, and what it changes by that. A definition is taken whole: its variables are its own."""
    whole = isinstance(statement, DEFINITIONS)
    seen = set() if whole else {id(node) for node in ast.iter_child_nodes(statement) if isinstance(node, STATEMENTS)}
    for scoped in walk(statement, seen):
        node = scoped.node
        outer = scoped.scope is GLOBAL_SCOPE
        part = node if outer and not whole else _head(statement)
        if isinstance(node, ast.NamedExpr):
            bindings.walrus_targets.add(node.target.id)
        elif isinstance(node, ast.Call):
            if name := root_name(node.func):
                bindings.calls.setdefault(name, []).append((part, cell))
                if isinstance(node.func, ast.Attribute) and name in bindings.classes and outer:
                    bindings.add_change(name, node, cell)
            for name in _changed(node) if not whole else ():
                if scoped.scope.owner(name) is None:
                    bindings.add_change(name, part, cell)
        for decorator in getattr(node, "decorator_list", ()):
            if name := root_name(decorator.func if isinstance(decorator, ast.Call) else decorator):
                bindings.calls.setdefault(name, []).append((part, cell))


def _bind_from_inside(bindings: Bindings, function: ast.AST, cell: int) -> None:
    """What a function changes that is not its own: a ``global``, a list that it appends to, its arguments."""
    own, outside = scope_of(function), set()
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal):
            outside |= set(node.names)
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            outside.add(root_name(node) or "")
        outside |= set(_changed(node))
    for name in outside - own.names:
        bindings.add_change(name, function, cell)
    if outside & own.arguments:
        for call, place in bindings.calls.get(function.name, ()):
            for argument in call.args if isinstance(call, ast.Call) else ():  # else it decorates
                if name := root_name(argument):
                    bindings.add_change(name, call, place)


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
        name = root_name(node.func.value)
        if name in BUILT_IN and node.args:
            name = root_name(node.args[0])
    elif isinstance(node.func, ast.Name) and node.func.id == "setattr" and node.args:
        name = root_name(node.args[0])
    return [name] if name else []


def _head(statement: ast.AST) -> ast.AST:
    """Of a compound statement what its names come from."""
    if isinstance(statement, ast.With | ast.AsyncWith):
        return ast.Tuple([item.context_expr for item in statement.items], ast.Load())
    if isinstance(statement, ast.ExceptHandler):
        return statement.type or ast.Constant(None)
    return getattr(statement, "iter", None) or getattr(statement, "test", None) or statement


def _another_name(bindings: Bindings, statement: ast.AST) -> None:
    """``t = torch``: ``t`` means what ``torch`` means."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return
    if not isinstance(statement.value, ast.Name | ast.Attribute):
        return
    qualified = bindings.qualified_names(statement.value)
    if not qualified:
        return
    for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
        if isinstance(target, ast.Name):
            known = bindings.imports.setdefault(target.id, set())
            known |= set(sorted(qualified)[: max(0, DEEPEST - len(known))])
