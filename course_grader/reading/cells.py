"""A cell as Python: what IPython makes of it, as a syntax tree.

The kernel runs the student's text itself, so the same Python must be seen here. IPython's own translator says what that
is; a cell that is valid Python does not need it. A cell can be made to take long: it is read in a bounded process.
"""

import ast
import functools
import itertools
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from IPython.core.inputtransformer2 import TransformerManager

MAX_TOKENS = 20_000  # of a cell; no person writes more, and parsing takes seconds then
TOKEN = re.compile(r"\w+|[^\w\s]")
PROMPTS = (">>>", "...:", "In [")
OTHER_LINES = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # lines end there for IPython, not for Python
MAX_MAGIC_DEPTH = 3  # one in the other
TIMED_CELL = re.compile(r"\A(\s*)%%(?:time\b[ \t]*|capture\b.*)")
TIMED_LINE = re.compile(r"^((?:[\w, \t.]+=)?[ \t]*)%time[ \t]+", re.MULTILINE)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class CellCode:
    """What was read of one cell."""

    tree: ast.Module | None  # None where it could not be read
    problem: str = ""  # why it could not be read, for the student to read
    line: int = 0  # where, from 1; 0 where no line is to blame
    lines: tuple[str, ...] = field(default=(), repr=False)  # the student's, or what IPython makes of them

    def text(self, line: int, most: int = 80) -> str:
        """One line of the cell, without its indent."""
        text = self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""
        return text if len(text) <= most else text[: most - 3] + "..."


@functools.lru_cache(maxsize=256)
def read_cell(text: str) -> CellCode:
    """Read one cell; this raises nothing."""
    lines = tuple(_lines(text))
    if len(list(itertools.islice(TOKEN.finditer(text), MAX_TOKENS + 1))) > MAX_TOKENS:
        return CellCode(None, "it is too long to be read", lines=lines)
    tree, problem, line = _parsed(text)
    if tree is None:
        text = _without_timing(text)
        tree, problem, line = _parsed(text)
    is_plain = not OTHER_LINES.search(text) and not any(prompt in text for prompt in PROMPTS)
    if tree is not None and is_plain:  # IPython leaves it as it is
        return CellCode(tree, lines=lines)
    above = next((place for place, line in enumerate(lines) if line.strip()), 0)  # empty lines, which IPython drops
    text = "\n" * above + _translated(text)
    return CellCode(*_parsed(text), tuple(_lines(text)))


def defined_names(cell: CellCode) -> set[str]:
    """The names that running a cell gives a value, outside its functions and classes."""
    return {name for statement in (cell.tree.body if cell.tree else ()) for name in bound_names(statement)}


def bound_names(statement: ast.stmt) -> set[str]:
    """The names that running a statement gives a value or takes it from, outside functions and classes."""
    names: set[str] = set()
    for node in outside_functions(statement, into_classes=False):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            names.add(node.name or "")
        elif isinstance(node, ast.MatchMapping):
            names.add(node.rest or "")
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= imported_names(node)
    return names - {""}


def imported_names(node: ast.Import | ast.ImportFrom) -> set[str]:
    """The names that an import gives a value."""
    return {alias.asname or alias.name.partition(".")[0] for alias in node.names} - {"*"}


def outside_functions(statement: ast.AST, into_classes: bool = True) -> Iterator[ast.AST]:
    """The nodes of a statement that run when it runs; a comprehension's own variables are left out."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (*FUNCTIONS, ast.Lambda)):
            waiting += [*getattr(node, "decorator_list", ()), *node.args.defaults]
        elif isinstance(node, ast.ClassDef) and not into_classes:
            continue
        elif isinstance(node, COMPREHENSIONS):
            waiting += [child for child in ast.walk(node) if isinstance(child, ast.NamedExpr | ast.Call)]
        else:
            waiting += ast.iter_child_nodes(node)


def _parsed(text: str) -> tuple[ast.Module | None, str, int]:
    try:
        with warnings.catch_warnings(action="ignore"):  # an invalid escape in a student's string is not our business
            return ast.parse(text), "", 0
    except SyntaxError as problem:
        return None, (problem.msg or "invalid syntax")[:200], problem.lineno or 0
    except ValueError:
        return None, "it holds a character that no program may hold", 0
    except (RecursionError, MemoryError):
        return None, "it is nested too deeply to be read", 0


def _without_timing(text: str) -> str:
    """The cell without ``%time`` and ``%%capture``, whose code runs like other code, each line where it was."""
    for _ in range(MAX_MAGIC_DEPTH):
        text = TIMED_CELL.sub(r"\1", text)
    return TIMED_LINE.sub(r"\1", text)


def _translated(text: str) -> str:
    try:
        with warnings.catch_warnings(action="ignore"):
            return TransformerManager().transform_cell(text)
    except Exception:  # what its translator cannot take, IPython does not run
        return text


def _lines(text: str) -> list[str]:
    """As Python counts them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
