"""The names that a person should look at where an answer with points reaches them: one plain list, ``look_at.toml``.

While an answer runs, what is off limits raises, in every thread (``course_checks.running.guard``). What can take that
guard down, run code elsewhere or fetch a function that it does not know goes by one of these names. To read an answer is
not to judge it: a name on this list costs nothing, it asks for a look.
"""

import ast
import builtins
import tomllib
from pathlib import Path

LISTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
KNOWN, PRODUCTS = set(LISTS["known_modules"]), set(LISTS["products"])
NAMES = {name for names in LISTS["names"].values() for name in names}
BUILT_IN = {*dir(builtins), "get_ipython"}
BY_TEXT = ("getattr", "setattr", "hasattr", "vars")  # with a text that stands there they are what that text says


def listed_names(statement: ast.stmt, no_products: bool) -> list[tuple[ast.AST, str]]:
    """The nodes of a statement that name something on the list, and what.

    ``no_products``: matrix products are off limits; numpy's are not seen by the guard.
    """
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    called, with_nothing = {id(call.func) for call in calls}, {id(call.func) for call in calls if not call.args}
    own = {  # attributes of the student's own objects, called or read
        id(node)
        for method in ast.walk(statement)
        if isinstance(method, ast.FunctionDef) and method.args.args and method.args.args[0].arg in ("self", "cls")
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.value.id == method.args.args[0].arg
    }
    names, found = NAMES | PRODUCTS if no_products else NAMES, []
    for node in ast.walk(statement):
        if id(node) in own:
            continue
        words = _words(node, id(node) in with_nothing)
        found += [(node, f"`{word}`") for word in words if word in names or _is_private(node, word)]
        if no_products and isinstance(getattr(node, "op", None), ast.MatMult):
            found.append((node, "the operator `@`"))
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            found += [(node, f"`{name}`") for name in modules if name.partition(".")[0] not in KNOWN]
            found += [(node, f"`{name}`") for name in modules if name.startswith("course_checks.")]
        elif isinstance(node, ast.Name) and node.id in BY_TEXT and id(node) not in called:
            found.append((node, f"`{node.id}` by another name"))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BY_TEXT:
            found += [(node, f"`{node.func.id}` with a name that is worked out")] * _is_hidden(node)
    return found


def _is_private(node: ast.AST, word: str) -> bool:
    """Whether it is something that a library keeps to itself."""
    is_private = isinstance(node, ast.Attribute | ast.Import | ast.ImportFrom) and word[:1] == "_" != word[1:2]
    return is_private and word not in ("_replace", "_asdict", "_make", "_fields")  # of named tuples


def _words(node: ast.AST, called_with_nothing: bool) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id] if node.id in BUILT_IN or node.id.startswith("_") else []  # not a variable that is called so
    if isinstance(node, ast.Attribute):
        return [] if node.attr in ("eval", "modules") and called_with_nothing else [node.attr]  # of a model
    if isinstance(node, ast.Import | ast.ImportFrom):
        module = getattr(node, "module", None) or ""
        return [part for name in (module, *(alias.name for alias in node.names)) for part in name.split(".")]
    if isinstance(node, ast.FunctionDef):
        return [node.name] if node.name.startswith("_") else []  # what Python or PyTorch calls by itself
    if isinstance(node, ast.MatchClass):
        return node.kwd_attrs
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BY_TEXT:
        return [part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return []


def _is_hidden(call: ast.Call) -> bool:
    """Whether the name that is asked for cannot be read, of an object that may be a module."""
    first = call.args[0] if call.args else None
    if first is None or (isinstance(first, ast.Name) and first.id in ("self", "cls")):
        return False
    return call.func.id == "vars" or not (len(call.args) > 1 and isinstance(call.args[1], ast.Constant))
