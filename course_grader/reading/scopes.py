"""Which variables are a function's own: what Python's rules of scope say about the names in a syntax tree."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*DEFINITIONS, ast.Lambda, *COMPREHENSIONS)
SHARED = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)  # one object for all places


@dataclass(frozen=True)
class Scope:
    """The variables that are a function's own.

    Args:
        names: Its variables, arguments included.
        arguments: Its arguments.
        imports: Name -> dotted names of what it imports itself.
        parent: The function around it; None: the notebook.
    """

    names: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()
    imports: dict[str, set[str]] = field(default_factory=dict)
    parent: "Scope | None" = None

    def owner(self, name: str) -> "Scope | None":
        """The scope that ``name`` belongs to; None: the notebook's."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope


GLOBAL_SCOPE = Scope()


@dataclass(frozen=True)
class ScopedNode:
    """A node with the scope that it stands in, and whether a call calls it."""

    node: ast.AST
    scope: Scope
    called: bool = False


def walk(part: ast.AST, seen: set[int]) -> Iterator[ScopedNode]:
    """The nodes of a part of the notebook, those in ``seen`` left out; ``seen`` takes them up."""
    waiting = [ScopedNode(part, GLOBAL_SCOPE)]
    while waiting:
        scoped = waiting.pop()
        node, scope = scoped.node, scoped.scope
        if id(node) in seen:
            continue
        if not isinstance(node, SHARED):
            seen.add(id(node))
        yield scoped
        if isinstance(node, SCOPES):
            inner = scope_of(node, scope)
            waiting += (ScopedNode(child, inner) for child in ast.iter_child_nodes(node))
            waiting += (ScopedNode(child, scope) for child in _read_outside(node))  # on top: taken first, then seen
        else:
            function = node.func if isinstance(node, ast.Call) else None
            waiting += (ScopedNode(child, scope, child is function) for child in ast.iter_child_nodes(node))


def scope_of(node: ast.AST, around: Scope = GLOBAL_SCOPE) -> Scope:
    """The scope that a function, class, lambda or comprehension makes."""
    names, outside, arguments = set(), set(), set()
    imports: dict[str, set[str]] = {}
    for inner in _own_level(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            names.add(inner.id)
        elif isinstance(inner, ast.arg):
            arguments.add(inner.arg)
        elif isinstance(inner, ast.Global | ast.Nonlocal):
            outside |= set(inner.names)
        elif isinstance(inner, ast.Import | ast.ImportFrom):
            for name, full in imported(inner):
                imports.setdefault(name, set()).add(full)
        elif isinstance(inner, DEFINITIONS):
            names.add(inner.name)
        else:
            names |= set(captured(inner))
    own = frozenset((names | arguments | imports.keys()) - outside)
    while isinstance(around, ClassScope):  # what a class defines is not seen from inside its methods
        around = around.parent or GLOBAL_SCOPE
    kind = ClassScope if isinstance(node, ast.ClassDef) else Scope
    return kind(own, frozenset(arguments) & own, imports, around if around is not GLOBAL_SCOPE else None)


class ClassScope(Scope):
    """The scope of a class's body."""


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Name -> dotted name, for each name that an import makes; ``*`` stands for itself."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            yield alias.name.partition(".")[0], alias.name.partition(".")[0]


def captured(node: ast.AST) -> list[str]:
    """The names that a pattern or an ``except`` gives a value."""
    if not isinstance(node, ast.MatchAs | ast.MatchStar | ast.MatchMapping | ast.ExceptHandler):
        return []
    return [name for name in (getattr(node, "name", None), getattr(node, "rest", None)) if name]


def _own_level(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes whose names belong to a scope; what ``:=`` inside a comprehension gives a value is left out."""
    apart = {id(node) for node in _read_outside(scope)}
    waiting = [node for node in ast.iter_child_nodes(scope) if id(node) not in apart]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += _read_outside(node) if isinstance(node, SCOPES) else ast.iter_child_nodes(node)


def _read_outside(scope: ast.AST) -> Iterator[ast.AST]:
    """What of a scope's own parts is worked out around it: decorators, defaults, annotations, base classes."""
    yield from getattr(scope, "decorator_list", ())
    if isinstance(scope, ast.ClassDef):
        yield from scope.bases
        yield from scope.keywords
    elif isinstance(scope, COMPREHENSIONS):
        yield scope.generators[0].iter
    else:
        yield from scope.args.defaults
        yield from filter(None, scope.args.kw_defaults)
        yield from filter(None, [getattr(scope, "returns", None)])
