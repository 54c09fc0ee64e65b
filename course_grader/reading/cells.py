"""A cell as Python: what IPython makes of it, as a syntax tree that keeps the student's own lines.

The kernel runs the student's text itself, so the same Python must be seen here. IPython's own translator says what that
is; it can be made to take hours, so it is asked only where a cell is small enough for it, and a cell that is valid Python
does not need it.
"""

import ast
import functools
import itertools
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from IPython.core.inputtransformer2 import TransformerManager

MAX_TOKENS = 20_000  # of a cell; no person writes more, and parsing takes seconds then
MAX_TRANSLATED = 250_000  # characters that the translator may look at: it begins again after each magic
COSTLY = 50  # characters that a magic, or what Python has no word for, is counted as
NOT_PYTHON = re.compile(r"[$?!`]")
MAX_LINE = 4_000
TOKEN = re.compile(r"\w+|[^\w\s]")
TRANSLATED = ("!", "?", "%", ",", ";", "/")  # what a line that is not Python begins with
ASSIGNED = re.compile(r"=[ \t\f]*[%!]")
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
    origins: tuple[int, ...] = ()  # the line in the student's cell of each line of the tree
    lines: tuple[str, ...] = field(default=(), repr=False)  # the student's

    def place(self, node: ast.AST) -> int:
        """The line in the student's cell at which a node of the tree stands, from 1."""
        return self._origin(getattr(node, "lineno", 1))

    def text(self, line: int, most: int = 80) -> str:
        """One line of the student's cell, without its indent."""
        text = self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""
        return text if len(text) <= most else text[: most - 3] + "..."

    def _origin(self, line: int) -> int:
        if 0 < line <= len(self.origins):
            return self.origins[line - 1]
        return line - len(self.origins) + self.origins[-1] if self.origins else line


@functools.lru_cache(maxsize=256)
def read_cell(text: str) -> CellCode:
    """Read one cell. Whatever it holds, this takes no more than a second or two and raises nothing."""
    lines = tuple(_lines(text))
    if len(list(itertools.islice(TOKEN.finditer(text), MAX_TOKENS + 1))) > MAX_TOKENS:
        return CellCode(None, "it is too long to be read", lines=lines)
    tree, problem, line = _parsed(text)
    if tree is None:
        text = _without_timing(text)
        tree, problem, line = _parsed(text)
    if tree is not None and _is_plain(text):
        return CellCode(tree, lines=lines)
    translated = _translated(text)
    if translated is None:
        return CellCode(None, problem or "it has too much in it that is not Python to be read", line, (), lines)
    tree, problem, line = _parsed(translated)
    cell = CellCode(tree, problem, 0, tuple(_origins(lines, _lines(translated))), lines)
    return replace(cell, line=cell._origin(line)) if line else cell


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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a student's string is not our business
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


def _is_plain(text: str) -> bool:
    """Whether IPython leaves a cell that is valid Python as it is."""
    return not OTHER_LINES.search(text) and not any(prompt in text for prompt in PROMPTS)


def _translated(text: str) -> str | None:
    """The cell as IPython translates it; None where that would take too long."""
    lines = text.splitlines()
    magics = sum(1 for line in lines if _may_be_translated(line))
    length = len(text) + COSTLY * len(NOT_PYTHON.findall(text))
    if (magics + 2) * (length + COSTLY * magics) > MAX_TRANSLATED or max(map(len, lines), default=0) > MAX_LINE:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return TransformerManager().transform_cell(text)
    except Exception:  # what its translator cannot take, IPython does not run
        return text


def _may_be_translated(line: str) -> bool:
    line = line.strip()
    return line.startswith(TRANSLATED) or line.endswith("?") or ASSIGNED.search(line) is not None


def _lines(text: str) -> list[str]:
    """As Python counts them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _origins(lines: Iterable[str], translated: list[str]) -> Iterable[int]:
    """For each translated line the line that it came from: lines are dropped at the front, and joined."""
    own = [line.strip() for line in lines]
    place = next((index for index, line in enumerate(own) if line), 0)
    for text in translated:
        text = text.strip()
        ahead = range(place, min(place + 20, len(own)))
        same = [index for index in ahead if text and (own[index].endswith(text) or _is_magic_of(text, own[index]))]
        place = same[0] if same else place
        yield min(place, len(own) - 1) + 1
        place += 1


def _is_magic_of(translated: str, line: str) -> bool:
    return "get_ipython()" in translated and line.lstrip(">. ")[:1] in TRANSLATED
