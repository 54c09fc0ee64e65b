"""What a line of an answer uses that is off limits, by name or by a detour, and what hides from being read."""

import ast

LIBRARIES = ("torch", "numpy", "scipy", "operator", "jax", "tensorflow", "transformers", "sklearn")
PRODUCTS = {"matmul", "mm", "bmm", "__matmul__"}  # where these are off limits, so are numpy's and the operator
NUMPY_PRODUCTS = {"dot", "matmul", "inner", "tensordot", "vdot", "multi_dot"}
HIDING_CALLS = {"eval", "exec", "compile", "__import__", "globals", "locals", "setattr", "delattr"}
HIDING_MODULES = {
    "importlib", "ctypes", "inspect", "gc", "pickle", "marshal", "builtins", "runpy", "subprocess", "code", "types",
    "course_utils.checks", "course_grader", "torch.ops", "torch.overrides", "torch.library", "sys.modules",
    "torch.utils.cpp_extension", "torch.utils._python_dispatch", "torch.jit", "cloudpickle", "dill", "cffi",
}  # fmt: skip
HIDING_NAMES = {
    "__globals__", "__builtins__", "__subclasses__", "__getattribute__", "__closure__", "__code__", "__wrapped__",
    "__dict__", "__self__", "f_globals", "f_back", "_getframe", "attrgetter", "methodcaller", "__loader__", "__spec__",
}  # fmt: skip
TAMPERING = {
    "showtraceback", "input_transformers_cleanup", "input_transformers_post", "ast_transformers", "run_cell",
    "set_custom_exc", "display_pub", "displayhook", "_render_traceback_", "do_execute", "excepthook", "settrace",
    "user_ns", "run_line_magic", "run_cell_magic", "register_magic_function", "kernel_app", "os_system",
}  # fmt: skip
TELLING = {"eval", "exec", "__import__", "ctypes", "gc", *HIDING_NAMES} - {"__dict__", "__self__"}
ENTRANCES = tuple(f"course_utils.checks{name}" for name in ("", ".check", ".failing_case", ".NotYet"))


def dotted(node: ast.AST, imports: dict[str, str]) -> str | None:
    """``F.softmax`` -> ``torch.nn.functional.softmax``; None where no import is at the root."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in imports:
        return None
    return ".".join([imports[node.id], *reversed(parts)])


def off_limits_in(node: ast.AST, imports: dict[str, str], names: tuple[str, ...]) -> str | None:
    """What one node of an answer uses that it should not; None if nothing.

    Args:
        node: Of the syntax tree.
        imports: Name in the notebook -> dotted name of what was imported.
        names: What is off limits, dotted.
    """
    last = {name.rpartition(".")[2] for name in names if not name.startswith("course_utils")}
    methods = {name.rpartition(".")[2] for name in names if name.startswith("torch.Tensor.")}
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return "the operator @" if isinstance(node.op, ast.MatMult) and methods & PRODUCTS else None
    if isinstance(node, ast.Import | ast.ImportFrom):
        return _import(node, names)
    if isinstance(node, ast.Call):
        return _name_as_text(node, last)
    if isinstance(node, ast.Name) and node.id in HIDING_CALLS | HIDING_NAMES:
        return f"`{node.id}`"
    if not isinstance(node, ast.Attribute | ast.Name) or not isinstance(node.ctx, ast.Load):
        return None
    full = dotted(node, imports)
    if full is not None:
        return f"`{full}`" if _is_off_limits(full, names, last) else None
    if isinstance(node, ast.Attribute):
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        product = bool(last & PRODUCTS) and node.attr == "dot"  # numpy's, or a tensor's
        if node.attr in HIDING_NAMES or (not own and (node.attr in methods or product)):
            return f"`.{node.attr}`"
    return None


def tampering_in(node: ast.AST, imports: dict[str, str]) -> str | None:
    """What one node does to the place it runs in, rather than answering; None if nothing."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("course_utils.checks"):
        names = {f"{node.module}.{alias.name}" for alias in node.names} - set(ENTRANCES)
        return f"imports {', '.join(sorted(names))}" if names else None
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return "replaces check" if node.name == "check" else None
    if isinstance(node, ast.Name):
        if node.id == "check" and isinstance(node.ctx, ast.Store):
            return "replaces check"
        return f"uses {node.id}" if node.id in TELLING else None
    if isinstance(node, ast.Attribute):
        full = dotted(node, imports) or ""
        if isinstance(node.ctx, ast.Store | ast.Del) and full:
            return f"replaces {full}"
        if node.attr in TAMPERING | TELLING:
            return f"reaches for {node.attr}"
        inner = full.startswith(("course_utils.checks.", "course_grader", "torch.overrides", "sys.modules"))
        return f"reaches for {full}" if inner and full not in ENTRANCES else None
    return None


def _is_off_limits(full: str, names: tuple[str, ...], last: set[str]) -> bool:
    root, word = full.partition(".")[0], full.rpartition(".")[2]
    if full in names or (root in LIBRARIES and word in last):
        return True
    return _hides(full) or (root == "numpy" and bool(last & PRODUCTS) and word in NUMPY_PRODUCTS)


def _hides(full: str) -> bool:
    if full in ENTRANCES:
        return False
    parts = full.split(".")
    private = parts[0] == "torch" and any(part[:1] == "_" and part[:2] != "__" for part in parts)
    return (
        private
        or not HIDING_NAMES.isdisjoint(parts)
        or any(full == name or full.startswith(name + ".") for name in HIDING_MODULES)
    )


def _import(node: ast.Import | ast.ImportFrom, names: tuple[str, ...]) -> str | None:
    module = getattr(node, "module", None)
    for alias in node.names:
        full = f"{module}.{alias.name}" if module else alias.name
        if _hides(full) or full in names:
            return f"`{full}`"
    return None


def _name_as_text(node: ast.Call, last: set[str]) -> str | None:
    """``getattr(torch, "soft" + "max")``: a name that cannot be read, or one that should not be there."""
    if not isinstance(node.func, ast.Name) or node.func.id != "getattr" or len(node.args) < 2:
        return None
    word = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
    if not isinstance(word, str):
        return "`getattr` with a name that cannot be read"
    bad = word in last | HIDING_NAMES or word.startswith("_") or (bool(last & PRODUCTS) and word in NUMPY_PRODUCTS)
    return f"`getattr` with {word!r}" if bad else None
