"""Reading answers without running them: what an answer can reach, and whether that is off limits.

While the probe runs, what is off limits raises (``checks.probes.guard``); but that guard lives in the student's kernel, where a
student who knows how can take it down. This reading is done outside.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from ..submissions.rebuild import Step
from .forbidden_calls import off_limits_in, tampering_in

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# IPython's additions to Python, in linear time: its own translator can be made to take hours.
CELL_MAGIC = re.compile(r"\A\s*%%(time|timeit|capture|prun)\b.*\n")
TIMED = re.compile(r"^([ \t]*)%(?:time|timeit|prun) (.*)$", re.MULTILINE)
MAGIC = re.compile(r"^([ \t]*)((?:\w+ *= *)?)[%!?].*$|^[ \t]*[\w.]+\?+[ \t]*$", re.MULTILINE)
MUTATORS = {"append", "extend", "insert", "update", "add", "setdefault", "__setitem__", "__setattr__"}


@dataclass(frozen=True)
class Reading:
    """What was found.

    Args:
        refused: MasterExercise number -> what its answer uses, so that it earns nothing although it computes what is right.
        noticed: What an instructor may want to look at.
    """

    refused: dict[str, str]
    noticed: tuple[str, ...]


def read_answers(
    steps: tuple[Step, ...], expressions: dict[str, str], off_limits: dict[str, tuple[str, ...]]
) -> Reading:
    """Read what a student wrote.

    Only what an answer can reach counts against it: its own definition and, from there, every definition that it names.
    A comparison with PyTorch's own function beside an answer is honest.

    Args:
        steps: The rebuilt notebook.
        expressions: MasterExercise number -> its answer, as an expression.
        off_limits: MasterExercise number -> dotted names; an exercise that is not in it is not read.
    """
    texts = [(step, _tree(step.text)) for step in steps if step.role != "probe"]
    own = [(step, tree) for step, tree in texts if step.role != "given"]
    trees = [tree for _, tree in own if tree]
    written = {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, FUNCTIONS)}
    imports = {name: full for _, tree in texts if tree for name, full in _imports(tree) if name not in written}
    refused = {}
    for number, names in off_limits.items():
        nodes = _reachable(expressions[number], trees)
        found = (said for node in nodes if (said := off_limits_in(node, imports, names)))
        if any(step.number == number and tree is None for step, tree in own):
            refused[number] = "code that is not Python"
        elif said := next(found, None):
            refused[number] = said
    seen = {said for tree in trees for node in ast.walk(tree) if (said := tampering_in(node, imports))}
    return Reading(refused, tuple(sorted(seen)))


def _tree(text: str) -> ast.Module | None:
    """The cell as Python, its magics translated; None if it is not Python."""
    if MAGIC.search(text):
        text = CELL_MAGIC.sub("", text, count=1)
        text = TIMED.sub(r"\1\2", text)
        text = MAGIC.sub(r"\1\2None", text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a student's string is not our business
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                yield alias.asname or top, alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _reachable(expression: str, trees: list[ast.Module]) -> list[ast.AST]:
    """Every node of every definition that ``expression`` leads to."""
    definitions: dict[str, list[ast.AST]] = {}
    for tree in trees:
        for statement in _statements(tree):
            for name, part in _bound(statement):
                definitions.setdefault(name, []).append(part)
    queue, seen, nodes = [ast.parse(expression, mode="eval")], set(), []
    while queue:
        part = queue.pop()
        nodes += ast.walk(part)
        for name in _free_names(part) - seen:
            seen.add(name)
            queue += definitions.get(name, [])
    return nodes


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Statements outside functions and classes, those inside ``if``, ``for``, ``try`` and so on included."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
            if not isinstance(child, FUNCTIONS):
                yield from _statements(child)


def _bound(statement: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Each name that a statement gives a value, changes in place or sets a part of, with what the value comes from."""
    if isinstance(statement, FUNCTIONS):
        yield statement.name, statement
        return
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            continue  # comes as a statement of its own
        for node in ast.walk(child):
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
                if name := _root(node):
                    yield name, _value(statement)
            elif isinstance(node, ast.Call):
                mutates = isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS
                sets = isinstance(node.func, ast.Name) and node.func.id == "setattr" and node.args
                if name := _root(node.func.value if mutates else node.args[0]) if mutates or sets else None:
                    yield name, node


def _value(statement: ast.AST) -> ast.AST:
    """Of a compound statement its head only."""
    head = getattr(statement, "iter", None) or getattr(statement, "test", None) or getattr(statement, "subject", None)
    if isinstance(statement, ast.With):
        return ast.Tuple([item.context_expr for item in statement.items], ast.Load())
    return head or statement


def _root(node: ast.AST) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _free_names(part: ast.AST) -> set[str]:
    """The names that ``part`` takes from the notebook; a function's own variables are not among them."""
    names = [node for node in ast.walk(part) if isinstance(node, ast.Name)]
    loaded = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    if not isinstance(part, FUNCTIONS):
        return loaded
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in ast.walk(part) if isinstance(node, ast.arg)}
    for node in ast.walk(part):
        if isinstance(node, ast.Global | ast.Nonlocal):
            own -= set(node.names)
    decorators = {name.id for item in part.decorator_list for name in ast.walk(item) if isinstance(name, ast.Name)}
    return (loaded - own) | decorators
