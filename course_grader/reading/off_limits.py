"""Ready-made functions of PyTorch and other libraries, where an exercise asks students to write them themselves.

The course's own functions need no reading: where one is off limits, it has no body in the copy that the answer runs with.
"""

import ast
import functools
from dataclasses import dataclass

import torch

from course_checks.running.guard import KERNELS

from .bindings import Bindings, root_name
from .scopes import ScopedNode

COURSE = "course_utils"
PRODUCTS = {"matmul", "mm", "bmm", "__matmul__"}  # where these are off limits, so are numpy's and the operator
NUMPY_PRODUCTS = {"dot", "matmul", "imatmul", "inner", "tensordot", "vdot", "multi_dot"}
NAMED_BY_TEXT = {"getattr", "attrgetter", "methodcaller", "hasattr"}
COMPUTE_IT = {  # what computes a ready-made without being called so
    "softmax": ("torch.distributions", "torch.nn.MultiheadAttention", "torch.nn.Transformer", "torch.nn.attention"),
    "scaled_dot_product_attention": ("torch.nn.Transformer", "torch.nn.attention"),
}


@dataclass(frozen=True)
class BannedNames:
    """What of other libraries than the course's is off limits in an exercise.

    Args:
        names: Dotted names.
        words: The last part of each, as it is compared: ``LayerNorm`` and ``layer_norm`` are one.
        methods: Those that tensors have as methods.
    """

    names: frozenset[str]
    words: frozenset[str]
    methods: frozenset[str]

    @property
    def products(self) -> bool:
        """Whether matrix products are among them."""
        return not PRODUCTS.isdisjoint(self.methods)


@functools.lru_cache(maxsize=256)
def banned_names(off_limits: tuple[str, ...]) -> BannedNames:
    """What of an exercise's off-limits list is not the course's own."""
    names = frozenset(name for name in off_limits if not name.startswith(f"{COURSE}."))
    last = {name.rpartition(".")[2] for name in names}
    words = {_word(name) for name in last}
    methods = {name for name in last if hasattr(torch.Tensor, name)}
    if not PRODUCTS.isdisjoint(methods):
        methods |= {"dot"}  # numpy's arrays have it too
    return BannedNames(names, frozenset(words), frozenset(methods))


def banned_name_in(scoped: ScopedNode, bindings: Bindings, banned: BannedNames) -> str | None:
    """What one node of an answer plainly names that it should not; None if nothing."""
    node = scoped.node
    if not banned.names:
        return None
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return "the operator @" if isinstance(node.op, ast.MatMult) and banned.products else None
    if isinstance(node, ast.ImportFrom) and node.module:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
        return next((f"`{full}`" for full in names if _is_banned(full, banned)), None)
    if isinstance(node, ast.MatchClass):
        return next((f"`.{name}`" for name in node.kwd_attrs if _word(name) in banned.words), None)
    if isinstance(node, ast.Call):
        return _named_by_text(node, banned)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return _name(scoped, bindings, banned)
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return _attribute(scoped, bindings, banned)
    return None


def _name(scoped: ScopedNode, bindings: Bindings, banned: BannedNames) -> str | None:
    node = scoped.node
    if scoped.scope.owner(node.id) is None:
        if any(isinstance(part, ast.FunctionDef | ast.ClassDef) for part, _ in bindings.definitions.get(node.id, ())):
            return None  # a name that was imported and is the student's own function too: ``obfuscation`` says so
        if node.id not in bindings.definitions and _word(node.id) in banned.words:
            star_imports = sorted(star for star in bindings.star_imports if star.partition(".")[0] != COURSE)
            if star_imports:
                return f"`{star_imports[0]}.{node.id}`"
    qualified = bindings.qualified_names(node, scoped.scope)
    return next((f"`{full}`" for full in sorted(qualified) if _is_banned(full, banned)), None)


def _attribute(scoped: ScopedNode, bindings: Bindings, banned: BannedNames) -> str | None:
    node = scoped.node
    qualified = bindings.qualified_names(node, scoped.scope)
    if qualified:
        return next((f"`{full}`" for full in sorted(qualified) if _is_banned(full, banned)), None)
    if node.attr not in banned.methods and _word(node.attr) not in banned.words:
        return None
    name = root_name(node)
    if isinstance(node.value, ast.Name) and name in ("self", "cls"):
        return None
    if node.attr not in banned.methods and name and scoped.scope.owner(name):
        return None  # of an argument or a variable of the answer, which has no such method if it is a tensor
    if isinstance(node.value, ast.Name | ast.Call) and bindings.defines_attribute(node.value, node.attr):
        return None
    return f"`.{node.attr}`"


def _named_by_text(node: ast.Call, banned: BannedNames) -> str | None:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called not in NAMED_BY_TEXT:
        return None
    texts = [part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    bad = (text for text in texts for part in text.split(".") if _word(part) in banned.words or part in banned.methods)
    return next((f"`{called}` with {text!r}" for text in bad), None)


def _is_banned(full: str, banned: BannedNames) -> bool:
    """Whether a dotted name of something imported is off limits, under whatever name and in whatever library."""
    parts = full.split(".")
    if full in banned.names:
        return True
    if parts[0] == COURSE and _is_course_own(parts):
        return False
    if any(_word(part) in banned.words for part in parts[1:]):
        return True
    if any(_runs(part, banned) for part in parts[1:]):
        return True
    if any(full.startswith(starts) for word, starts in COMPUTE_IT.items() if _word(word) in banned.words):
        return True
    return banned.products and parts[0] in ("numpy", "scipy", "operator") and not NUMPY_PRODUCTS.isdisjoint(parts)


def _runs(part: str, banned: BannedNames) -> bool:
    """``_scaled_dot_product_flash_attention_for_cpu``: a kernel that nothing but the ready-made needs."""
    starts = (start for word, starts in KERNELS.items() if _word(word) in banned.words for start in starts)
    return any(part.startswith((start, start.lstrip("_") + "_")) and part[0] == "_" for start in starts)


def _is_course_own(parts: list[str]) -> bool:
    """``course_utils.attention.F.softmax`` is PyTorch's, ``course_utils.attention.masked_softmax`` is not."""
    return {"torch", "F", "nn", "np", "numpy"}.isdisjoint(parts)


@functools.lru_cache(maxsize=4096)
def _word(name: str) -> str:
    """``LayerNorm``, ``layer_norm``, ``native_layer_norm`` -> ``layernorm``."""
    if name[:2] == "__":
        return name
    plain = name.lstrip("_").removeprefix("special_").removeprefix("native_").removesuffix("_")
    plain = plain.replace("_", "").lower()
    return plain.removesuffix("loss")
