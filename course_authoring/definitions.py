"""One Python file as the build sees it: its top-level statements, the names they bind, and the names they use."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

Dotted = tuple[str, ...]
Origin = tuple[Dotted, Dotted]  # where a name comes from: a module, and what of it (nothing: the module itself)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
NOTES = "progress_log"  # the module whose calls, standing alone, leave every output as it is
NOT_CODE = {"type_comment", "kind"}  # fields of syntax trees that say nothing about what the code does


@dataclass
class Names:
    """The names that a piece of code takes from around it.

    Args:
        chains: A name with the attributes asked of it: ``attention.masked_softmax`` is ``("attention", "masked_softmax")``.
        imports: What its own import statements bind: name -> where it comes from.
        mentioned: Every name and attribute in it, wherever it comes from.
        strings: Every string in it.
    """

    chains: set[Dotted] = field(default_factory=set)
    imports: dict[str, list[Origin]] = field(default_factory=dict)
    mentioned: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)


def names_in(nodes: Iterable[ast.AST], package: Dotted = ()) -> Names:
    """The names that these statements use; ``package`` is what their relative imports start from."""
    found = Names()
    for node in nodes:
        _collect(node, frozenset(), found, package)
    return found


def imported(node: ast.Import | ast.ImportFrom, package: Dotted) -> list[tuple[str, Origin]]:
    """What an import statement binds, and where that comes from; ``import a.b`` binds ``a``."""
    if isinstance(node, ast.Import):
        names = [(alias.asname, tuple(alias.name.split("."))) for alias in node.names]
        return [(alias, (module, ())) if alias else (module[0], (module[:1], ())) for alias, module in names]
    base = package[: len(package) - node.level + 1] if node.level else ()
    base += tuple(node.module.split(".")) if node.module else ()
    return [(alias.asname or alias.name, (base, (alias.name,))) for alias in node.names]


def plain(node: object) -> str:
    """A syntax tree as text that is the same in every Python release: no places, no docstrings, no notes, nothing empty."""
    if isinstance(node, ast.JoinedStr):
        parts: list[str] = []
        for part in map(plain, node.values):  # releases differ in where they cut the text of an f-string
            if parts and part[0] == parts[-1][0] == "'":
                part = parts.pop()[:-1] + part[1:]
            parts += [part] if part != "''" else []  # 3.12.0 and 3.12.1 end some with an empty piece
        return f"JoinedStr({','.join(parts)})"
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return "'" + node.value.encode("unicode_escape").decode().replace("'", "\\x27") + "'"
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if name not in NOT_CODE)
        text = ",".join(f"{name}={plain(value)}" for name, value in fields if value is not None and value != [])
        return f"{type(node).__name__}({text})"
    if isinstance(node, list):
        return f"[{','.join(plain(item) for item in node if not (is_docstring(item) or is_note(item)))}]"
    return repr(node)


def is_docstring(node: object) -> bool:
    """Whether this is a statement that holds a string and does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_note(node: object) -> bool:
    """Whether this is a statement that only notes a student's progress, ``progress_log.passed(...)``: no output shows it."""
    function = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == NOTES


class Module:
    """One file of the library.

    Args:
        name: Its dotted name; of a package, that of the package.
        path: The file.
        text: What stands in it.

    Raises:
        SyntaxError: The file is not Python.
    """

    def __init__(self, name: Dotted, path: Path, text: str) -> None:
        self.name, self.path, self.text = name, path, text
        self.package = name if path.name == "__init__.py" else name[:-1]
        body = ast.parse(text).body
        self.statements = [node for node in body if not (is_docstring(node) or _is_main_guard(node))]
        self.bound: dict[str, list[int]] = {}  # name -> places among the statements
        self.imports: dict[str, list[Origin]] = {}  # name -> where it comes from
        self.always: list[int] = []  # places of statements that do something whatever is asked of the module
        self._names: dict[int, Names] = {}
        self._plain: dict[int, str] = {}
        for place, node in enumerate(self.statements):
            self._enter(place, node)

    def binds(self, name: str) -> bool:
        """Whether a statement of the module gives this name a value."""
        return name in self.bound or name in self.imports

    def names(self, place: int) -> Names:
        """The names that one statement uses."""
        if place not in self._names:
            self._names[place] = names_in([self.statements[place]], self.package)
        return self._names[place]

    def code(self, places: Iterable[int], names: Iterable[str]) -> str:
        """These statements and these imported names, as ``plain`` text."""
        for place in set(places) - set(self._plain):
            self._plain[place] = plain(self.statements[place])
        imports = [f"{name} from {self.imports[name]}" for name in sorted(names)]
        return "\n".join([*imports, *(self._plain[place] for place in sorted(places))])

    def _enter(self, place: int, node: ast.stmt) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, origin in imported(node, self.package):
                self.imports.setdefault(name, []).append(origin)
            return
        names = bound_by(node)
        for name in names:
            self.bound.setdefault(name, []).append(place)
        if not names or not isinstance(node, (*DEFINITIONS, ast.Assign, ast.AnnAssign, ast.AugAssign)):
            self.always.append(place)
        if not isinstance(node, DEFINITIONS):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Import | ast.ImportFrom):
                    self._enter(place, inner)


def _is_main_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def bound_by(node: ast.AST) -> set[str]:
    """The names that a statement binds where it stands; what a function or class binds inside is its own."""
    if isinstance(node, DEFINITIONS):
        return {node.name}
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return {node.id}
    if isinstance(node, (ast.Lambda, *COMPREHENSIONS)):
        return set()
    return set().union(*map(bound_by, ast.iter_child_nodes(node)))


def _collect(node: ast.AST, local: frozenset[str], found: Names, package: Dotted) -> None:
    """Gather what stands below ``node``; names in ``local`` are variables of a function or comprehension around it."""
    if is_note(node):
        return
    if isinstance(node, ast.Name | ast.Attribute):
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        found.mentioned.update(attributes)
        if not isinstance(node, ast.Name):
            _collect(node, local, found, package)
            return
        found.mentioned.add(node.id)
        if node.id not in local:
            found.chains.add((node.id, *reversed(attributes)))
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            found.strings.add(node.value)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for name, origin in imported(node, package):
            found.imports.setdefault(name, []).append(origin)
            found.mentioned.update((name, *origin[0], *origin[1]))
    elif isinstance(node, FUNCTIONS):
        inside = node.body if isinstance(node.body, list) else [node.body]
        for child in ast.iter_child_nodes(node):  # defaults, decorators and annotations belong to the outside
            if child not in inside:
                _collect(child, local, found, package)
        arguments = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        inner = (local | arguments).union(*map(bound_by, inside))
        for part in ast.walk(node):
            if isinstance(part, ast.Global):
                inner -= set(part.names)
            elif isinstance(part, ast.Import | ast.ImportFrom):
                inner -= {name for name, _ in imported(part, ())}
        for child in inside:
            _collect(child, inner, found, package)
    elif isinstance(node, COMPREHENSIONS):
        first = node.generators[0].iter
        _collect(first, local, found, package)
        inner = local.union(*(bound_by(part.target) for part in node.generators))
        for child in ast.iter_child_nodes(node):
            for part in ast.iter_child_nodes(child) if isinstance(child, ast.comprehension) else [child]:
                if part is not first:
                    _collect(part, inner, found, package)
    else:
        for child in ast.iter_child_nodes(node):
            _collect(child, local, found, package)
