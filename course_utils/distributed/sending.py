"""What goes to another process and comes back: a function as its text, with what it refers to, and plain values.

A function of a notebook cannot be looked up by name in another process, where there is no notebook. So its text is sent.
"""

import ast
import importlib
import importlib.util
import inspect
import linecache
import symtable
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType

import torch
from torch import Tensor

Entry = tuple  # ("import", name, module, attribute), ("value", name, value) or ("text", name, first line, text)
CONSTANTS = (bool, int, float, complex, str, bytes, type(None), torch.dtype)
PLAIN = "tensors, numbers, strings, None, and lists, tuples and dicts of these"


def plain(name: str, value: object) -> object:
    """``value`` as a copy that may cross to another process: tensors on the CPU and without their graph.

    Raises:
        TypeError: It, or something in it, is none of tensors, numbers, strings, None, lists, tuples and dicts.
    """
    if isinstance(value, Tensor):
        return value.detach().cpu().clone()
    if isinstance(value, list | tuple):
        return (list if isinstance(value, list) else tuple)(plain(name, item) for item in value)
    if isinstance(value, dict):
        return {plain(name, key): plain(name, item) for key, item in value.items()}
    for kind in CONSTANTS:
        if isinstance(value, kind):
            return value if kind in (type(None), torch.dtype) else kind(value)
    raise TypeError(
        f"{name} holds a {type(value).__name__}; what passes between processes are {PLAIN} "
        "(of a module, its state_dict())"
    )


def pack(function: Callable) -> tuple[str, list[Entry]]:
    """A function as plain data: its name, and what ``unpack`` has to run to have it.

    Functions and classes of a module that can be imported go by their name. All others go as their text, and with it go
    those that it refers to, imports, and numbers and strings.

    Raises:
        TypeError: Its text is not to be found, or it refers to something that is neither, such as a tensor of the notebook.
    """
    entries: list[Entry] = []
    name = getattr(function, "__name__", repr(function))
    _pack(name, function, entries, set(), f"the function ({name})")
    return name, entries


def unpack(name: str, entries: list[Entry]) -> Callable:
    """The function that was packed; tracebacks show its lines, numbered as in the cell or file that they come from."""
    namespace: dict[str, object] = {"__name__": "__rank__"}
    for kind, alias, *rest in entries:
        if kind == "value":
            namespace[alias] = rest[0]
        elif kind == "import":
            value = importlib.import_module(rest[0])
            for part in rest[1].split(".") if rest[1] else ():
                value = getattr(value, part)
            namespace[alias] = value
        else:
            first_line, text = rest
            text = "\n" * (first_line - 1) + text
            file = file_of(alias)
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
            exec(compile(text, file, "exec", dont_inherit=True), namespace)
    return namespace[name]


def file_of(name: str) -> str:
    """What tracebacks call the place of a function that came as text."""
    return f"<{name}>"


def _pack(name: str, value: object, entries: list[Entry], packed: set[int], what: str) -> None:
    """Append the entries for one name, after those for what it refers to."""
    if isinstance(value, ModuleType):
        if value.__name__ == "__main__" or not _can_be_found(value.__name__):
            raise TypeError(f"{what} is a module that another process cannot import: write it to a file")
        entries.append(("import", name, value.__name__, ""))
    elif isinstance(value, CONSTANTS) or (isinstance(value, tuple) and _constant(value)):
        entries.append(("value", name, plain(name, value)))
    elif _importable(value):
        entries.append(("import", name, value.__module__, value.__qualname__))
    elif isinstance(value, FunctionType | type):
        own_name = value.__name__
        if id(value) not in packed:
            packed.add(id(value))
            first_line, text = _text(value, what)
            for other, referred in _referred(value, text):
                _pack(other, referred, entries, packed, f"{own_name} uses {other}, which")
            entries.append(("text", own_name, first_line, text))
        if name != own_name:
            raise TypeError(f"{what} is {own_name} under another name: call it {own_name}")
    else:
        raise TypeError(
            f"{what} is a {type(value).__name__}. A rank is a process of its own and has nothing of this one but what it "
            f"is handed: pass it as an argument, run_on_ranks(function, P, {name})"
        )


def _constant(value: object) -> bool:
    return all(map(_constant, value)) if isinstance(value, tuple) else isinstance(value, CONSTANTS)


def _can_be_found(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _importable(value: object) -> bool:
    module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(path, str) or module == "__main__" or not _can_be_found(module):
        return False
    there = sys.modules.get(module)
    for part in path.split("."):
        there = getattr(there, part, None)
    return there is value


def _text(value: FunctionType | type, what: str) -> tuple[int, str]:
    """The number of its first line in its cell or file, and its text."""
    if value.__name__ == "<lambda>":
        raise TypeError(f"{what} is a lambda, whose text cannot be cut out of its line: write it with def")
    try:
        if isinstance(value, type):
            return _text_of_class(value)
        lines, first_line = inspect.getsourcelines(value)
    except (OSError, TypeError):
        raise TypeError(
            f"{what} has no text that can be found: define it in a file, or in a cell of a notebook that has no %% line"
        ) from None
    return first_line, textwrap.dedent("".join(lines))


def _text_of_class(value: type) -> tuple[int, str]:
    """As ``inspect.getsourcelines``, which before Python 3.13 finds no class of a notebook."""
    for method in map(inspect.unwrap, filter(inspect.isfunction, vars(value).values())):
        lines = linecache.getlines(method.__code__.co_filename)
        for node in ast.walk(ast.parse("".join(lines))) if lines else ():
            if isinstance(node, ast.ClassDef) and node.name == value.__name__:
                first_line = min(part.lineno for part in (node, *node.decorator_list))
                if first_line <= method.__code__.co_firstlineno <= node.end_lineno:
                    return first_line, textwrap.dedent("".join(lines[first_line - 1 : node.end_lineno]))
    lines, first_line = inspect.getsourcelines(value)
    return first_line, textwrap.dedent("".join(lines))


def _referred(value: FunctionType | type, text: str) -> Iterator[tuple[str, object]]:
    """What a text names that is defined outside it, with what it means there."""
    if isinstance(value, type):
        known, functions = dict(vars(sys.modules[value.__module__])), filter(inspect.isfunction, vars(value).values())
    else:
        known, functions = dict(inspect.unwrap(value).__globals__), [value]
    for function in functions:
        known |= inspect.getclosurevars(inspect.unwrap(function)).nonlocals  # of its own, not of a decorator's
    for name in sorted(_outer_names(symtable.symtable(text, file_of(value.__name__), "exec"))):
        if name in known and name != value.__name__:
            yield name, known[name]


def _outer_names(table: symtable.SymbolTable) -> set[str]:
    top = table.get_type() == "module"
    names = {s.get_name() for s in table.get_symbols() if s.is_referenced() and (top or s.is_global())}
    return names.union(*(_outer_names(inner) for inner in table.get_children()))
