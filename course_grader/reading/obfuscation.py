"""Code that hides from being read what it calls: where an answer with points uses it, a person should look at it."""

import ast
import builtins
import re

from .bindings import Bindings, root_name
from .off_limits import COURSE
from .scopes import ScopedNode

# Modules that hand out nothing but what their names say. Whatever comes from elsewhere cannot be judged by reading.
KNOWN = {
    "__future__", "abc", "array", "bisect", "collections", "contextlib", "copy", "course_utils", "dataclasses",
    "decimal", "einops", "enum", "fractions", "functools", "heapq", "inspect", "itertools", "jaxtyping", "logging",
    "math", "matplotlib", "numbers", "numpy", "operator", "os", "pathlib", "pandas", "queue", "random", "re", "scipy",
    "statistics", "string", "sys", "textwrap", "time", "torch", "tqdm", "types", "typing", "typing_extensions", "warnings",
}  # fmt: skip
# Of these modules only what is named here.
ONLY = {
    "inspect": {"signature", "Parameter", "Signature", "getsource", "getdoc", "isfunction", "isclass", "ismethod"},
    "logging": {"getLogger", "info", "debug", "warning", "error", "basicConfig", "INFO", "DEBUG", "WARNING", "ERROR", "Logger"},
    "os": {"environ", "path", "getcwd", "cpu_count"},
    "sys": {"maxsize", "float_info", "stdout", "stderr", "version", "version_info", "getsizeof", "getrecursionlimit", "platform"},
    "types": {"SimpleNamespace", "MappingProxyType", "MethodType", "NoneType", "EllipsisType", "FunctionType"},
}  # fmt: skip
NOT_OF = {  # known modules' parts that call what is named by a text, or run one
    "operator.attrgetter", "operator.methodcaller", "string.Formatter", "typing.get_type_hints", "typing.ForwardRef",
    "torch.jit", "torch.fx", "torch.hub", "torch.load", "torch.package", "torch.library", "torch.overrides", "torch.classes",
    "torch.serialization", "torch.utils.cpp_extension", "torch.utils._python_dispatch", "torch.multiprocessing",
    "torch.export", "numpy.load", "numpy.ctypeslib", "numpy.f2py", "pandas.eval", "pandas.read_pickle",
}  # fmt: skip
RISKY = {"builtins", "ctypes", "gc", "importlib", "inspect", "modules", "pickle", "runpy", "subprocess", "sys", "_C"}
CALLS = set("eval exec compile __import__ globals breakpoint get_ipython __builtins__ __loader__ __spec__".split())
ATTRIBUTES = {
    "__base__", "__bases__", "__builtins__", "__closure__", "__code__", "__func__", "__getattribute__", "__globals__",
    "__import__", "__loader__", "__mro__", "__reduce__", "__reduce_ex__", "__self__", "__spec__", "__subclasses__",
    "__traceback__", "__wrapped__", "_getframe", "ag_frame", "cr_frame", "f_back", "f_builtins", "f_globals", "f_locals",
    "get_field", "gi_frame", "mro", "tb_frame", "tb_next", "user_global_ns", "user_ns",
}  # fmt: skip
TORCH_HOOKS = {"__torch_function__", "__torch_dispatch__"}
LAST_OUTPUT = re.compile(r"_{1,3}|_\d+|Out")
BUILT_IN = {*dir(builtins), "display", "In", "exit", "quit", "__name__", "__doc__", "__file__"}
HIDES = "hides what it calls"


def obfuscation_in(scoped: ScopedNode, bindings: Bindings) -> str | None:
    """In what way one node hides what it calls; None if it does not."""
    node = scoped.node
    if isinstance(node, ast.Import | ast.ImportFrom):
        return _import(node)
    if isinstance(node, ast.FunctionDef) and node.name in TORCH_HOOKS:
        return f"`{node.name}` changes what PyTorch's functions do"
    if isinstance(node, ast.Call):
        return _call(node, scoped)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return _name(scoped, bindings)
    if isinstance(node, ast.Attribute):
        if node.attr in ATTRIBUTES or (node.attr == "__dict__" and root_name(node) not in ("self", "cls")):
            return f"`.{node.attr}` {HIDES}"
        return _dotted(bindings.qualified_names(node, scoped.scope))
    return None


def undefined_name(name: str, bindings: Bindings) -> str | None:
    """In what way a name hides what it stands for that nothing in sight gives a value."""
    if LAST_OUTPUT.fullmatch(name):
        return f"`{name}` is what an earlier cell showed"
    if name in BUILT_IN or bindings.star_imports:
        return None
    return f"`{name}` is given a value nowhere in sight"


def _name(scoped: ScopedNode, bindings: Bindings) -> str | None:
    name, of_notebook = scoped.node.id, scoped.scope.owner(scoped.node.id) is None
    if name in CALLS and of_notebook and name not in bindings.definitions:
        return f"`{name}` {HIDES}"
    if name in ("getattr", "vars") and not scoped.called and of_notebook:
        return f"`{name}` by another name {HIDES}"
    if of_notebook and name in bindings.imports and name in bindings.definitions:
        kinds = (ast.FunctionDef, ast.ClassDef)
        if any(isinstance(part, kinds) for part, _ in bindings.definitions[name]):
            outside = {full for full in bindings.imports[name] if full.partition(".")[0] != COURSE}
            return f"`{name}` is imported ({min(outside)}) and defined" if outside else None
    return _dotted(bindings.qualified_names(scoped.node, scoped.scope))


def _call(node: ast.Call, scoped: ScopedNode) -> str | None:
    called = node.func.id if isinstance(node.func, ast.Name) else ""
    first = node.args[0] if node.args else None
    own = root_name(first) in ("self", "cls") if first is not None else False
    if called == "getattr" and not own:
        text = node.args[1] if len(node.args) > 1 else None
        if not isinstance(text, ast.Constant):
            return f"`getattr` with a name that cannot be read {HIDES}"
        if text.value in ATTRIBUTES or text.value == "__dict__":
            return f"`getattr` with {text.value!r} {HIDES}"
    if called == "vars" and first is not None and not own:
        return f"`vars` {HIDES}"
    if called in ("vars", "locals") and first is None and scoped.scope.parent is None and not scoped.scope.names:
        return f"`{called}` {HIDES}"
    if isinstance(node.func, ast.Attribute) and node.func.attr == "eval" and first is not None:
        return f"`.eval` {HIDES}"
    return None


def _import(node: ast.Import | ast.ImportFrom) -> str | None:
    if isinstance(node, ast.ImportFrom):
        names = {f"{node.module or ''}.{alias.name}" for alias in node.names}
    else:
        names = {alias.name for alias in node.names if alias.name.partition(".")[0] not in ONLY}
    return _dotted(names)


def _dotted(names: set[str]) -> str | None:
    for full in sorted(names):
        parts = full.split(".")
        top = parts[0]
        if top not in KNOWN:
            return f"`{full}`: the reading does not know what `{top}` hands out"
        inner = parts[1:2] and (top in ONLY and parts[1] not in ONLY[top])
        risky = not RISKY.isdisjoint(parts[1:])
        private = top == "torch" and any(part[:1] == "_" and part[:2] != "__" for part in parts[1:])
        if inner or risky or private or any(full == name or full.startswith(f"{name}.") for name in NOT_OF):
            return f"`{full}` {HIDES}"
    return None
