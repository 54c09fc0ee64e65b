"""Code that works on the place it runs in, rather than on an exercise. It earns nothing; a person should look at it."""

import ast
from collections.abc import Iterator

from .bindings import Bindings, outer_statements
from .scopes import ScopedNode, walk

INTERACTIVE = {
    "showtraceback", "input_transformers_cleanup", "input_transformers_post", "ast_transformers", "run_cell",
    "set_custom_exc", "display_pub", "displayhook", "_render_traceback_", "do_execute", "excepthook", "settrace",
    "setprofile", "user_ns", "user_global_ns", "register_magic_function", "kernel_app", "run_cell_async", "run_code",
    "_getframe", "f_globals", "f_locals", "f_back", "__subclasses__", "__globals__", "__builtins__", "__code__",
}  # fmt: skip
UNREADABLE = {"eval", "exec", "__import__", "globals"}
INNER = (
    "course_grader", "torch.overrides", "torch._C", "torch.utils._python_dispatch", "torch.library", "sys.modules",
    "sys.meta_path", "sys.path_hooks", "sys.settrace", "sys.setprofile", "ctypes", "gc.get_objects", "gc.get_referrers",
    "unittest.mock", "builtins", "importlib.reload", "IPython.core",
)  # fmt: skip
INTERACTIVE_SHELL = "IPython.core.interactiveshell.InteractiveShell"
OPEN = (f"{INTERACTIVE_SHELL}.ast_node_interactivity", "IPython.core.display", "IPython.core.pylabtools")
ENTRANCES = tuple(f"course_checks{name}" for name in ("", ".check", ".failing_case", ".hint", ".NotYet"))
CHECKS = "course_checks"
REPLACED = "torch numpy course_utils course_checks course_grader IPython ipykernel sys json base64 safetensors".split()
FREE_TO_SET = ("torch.backends", "sys.stdout", "sys.stderr", "sys.path", "torch.set_default_dtype")
MAGICS = {"run", "macro", "rerun", "store", "cython", "alias_magic"}  # they run what is not in the cell


def tampering_in(tree: ast.Module, bindings: Bindings) -> Iterator[tuple[ast.AST, str]]:
    """What a cell does to the place that it runs in: each node that does something, and what."""
    asked = _only_asked(tree)
    for statement in outer_statements(tree):
        for name in _made(statement):
            if name == "check":
                yield statement, "replaces check"
    for scoped in walk(tree, set()):
        if id(scoped.node) not in asked and (reason := _reason(scoped, bindings)):
            yield scoped.node, reason


def _only_asked(tree: ast.Module) -> set[int]:
    """What is only looked up: ``"google.colab" in sys.modules``, ``"f" in globals()``."""
    asked = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for kind, right in zip(node.ops, node.comparators, strict=True):
                if isinstance(kind, ast.In | ast.NotIn):
                    asked |= {id(right), id(right.func) if isinstance(right, ast.Call) else 0}
    return asked


def _made(statement: ast.AST) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        module = getattr(statement, "module", "")
        return [alias.asname or alias.name for alias in statement.names if f"{module}.{alias.name}" not in ENTRANCES]
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _reason(scoped: ScopedNode, bindings: Bindings) -> str | None:
    node = scoped.node
    if isinstance(node, ast.Import | ast.ImportFrom):
        return _import(node)
    if isinstance(node, ast.Constant):
        return f"names {node.value[:40]}" if isinstance(node.value, str) and "/proc/" in node.value[:40] else None
    if isinstance(node, ast.Call):
        return _call(scoped, bindings)
    if isinstance(node, ast.Name):
        if node.id in UNREADABLE and scoped.scope.owner(node.id) is None and node.id not in bindings.definitions:
            return f"uses {node.id}, which reaches what cannot be read"
        if isinstance(node.ctx, ast.Load):
            return _reaches(bindings.qualified_names(node, scoped.scope))
        return None
    if isinstance(node, ast.Attribute):
        names = bindings.qualified_names(node, scoped.scope)
        if isinstance(node.ctx, ast.Store | ast.Del) and (reason := _replaces(names)):
            return reason
        return f"reaches for {node.attr}" if node.attr in INTERACTIVE else _reaches(names)
    return None


def _import(node: ast.Import | ast.ImportFrom) -> str | None:
    module = getattr(node, "module", None)
    names = {f"{module}.{alias.name}" if module else alias.name for alias in node.names} - set(ENTRANCES)
    bad = {
        full for full in names if _is_inner(full) and not full.startswith("sys.modules")
    }  # the course imports it too
    return f"imports {', '.join(sorted(bad))}" if bad else None


def _call(scoped: ScopedNode, bindings: Bindings) -> str | None:
    node = scoped.node
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("setattr", "delattr") and node.args:
        return _replaces(bindings.qualified_names(node.args[0], scoped.scope))
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("run_line_magic", "run_cell_magic"):
        first = node.args[0] if node.args else None
        magic = first.value if isinstance(first, ast.Constant) else None
        if magic is None or magic in MAGICS:
            return f"runs what cannot be read with the magic {magic or ''}".rstrip()
    return None


def _replaces(names: set[str]) -> str | None:
    bad = (
        full
        for full in sorted(names)
        if full.partition(".")[0] in REPLACED and not full.startswith(FREE_TO_SET + OPEN[:1])
    )
    return next((f"replaces {full}" for full in bad), None)


def _reaches(names: set[str]) -> str | None:
    return next((f"reaches for {full}" for full in sorted(names) if _is_inner(full)), None)


def _is_inner(full: str) -> bool:
    if full in ENTRANCES or full == INTERACTIVE_SHELL or full.startswith(OPEN):  # the shell's attributes are looked at
        return False
    return full.startswith(f"{CHECKS}.") or any(full == name or full.startswith(f"{name}.") for name in INNER)
