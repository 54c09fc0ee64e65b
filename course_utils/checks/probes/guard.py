"""Ready-made callables that an exercise asks the student to write: while the probe runs, they raise."""

import contextlib
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator

from torch.overrides import TorchFunctionMode

MATRIX_PRODUCTS = (
    *("torch.matmul", "torch.mm", "torch.bmm", "torch.mv", "torch.inner", "torch.tensordot", "torch.chain_matmul"),
    *("torch.addmm", "torch.addbmm", "torch.baddbmm", "torch.linalg.matmul", "torch.linalg.multi_dot"),
    *("torch.Tensor.matmul", "torch.Tensor.__matmul__", "torch.Tensor.__rmatmul__", "torch.Tensor.mm"),
    *("torch.Tensor.bmm", "torch.Tensor.mv", "torch.Tensor.inner", "torch.Tensor.addmm", "torch.Tensor.addbmm"),
    *("torch.Tensor.baddbmm", "torch.nn.functional.linear"),
)


class OffLimits(Exception):
    """The answer called something that this exercise asks the student to write."""


@contextlib.contextmanager
def off_limits(names: tuple[str, ...], answer: object) -> Iterator[None]:
    """Make the named callables raise ``OffLimits``, however the student's code came by them.

    Args:
        names: Dotted names: ``"torch.softmax"``, ``"torch.Tensor.softmax"``, ``"course_utils.attention.masked_softmax"``.
        answer: The student's answer; names that its module imported directly are covered too.
    """
    targets = {name: resolve(name) for name in names}
    with contextlib.ExitStack() as stack:
        for name, target in targets.items():
            if isinstance(target, type):  # through its constructor, so that a subclass is caught as well
                stack.enter_context(_attribute(target, "__init__", _refusal(name)))
            elif isinstance(target, types.FunctionType):  # written in Python, the course's own or PyTorch's
                for namespace in _namespaces(target, answer):
                    stack.enter_context(_replaced(namespace, target, _refusal(name)))
        if names:
            stack.enter_context(_TorchGuard({target: name for name, target in reversed(targets.items())}))
        yield


def resolve(name: str) -> Callable:
    """The object that a dotted name stands for.

    Raises:
        ValueError: There is no such object.
    """
    parts = name.split(".")
    for split in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:split]))
            return functools.reduce(getattr, parts[split:], found)
        except (ImportError, AttributeError):
            continue
    raise ValueError(f"off_limits: nothing is called {name!r}")


class _TorchGuard(TorchFunctionMode):
    """Sees every call of a torch function or tensor method, whatever name it was imported under."""

    def __init__(self, forbidden: dict[Callable, str]) -> None:
        super().__init__()
        self.forbidden = forbidden

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in self.forbidden:
            _refuse(self.forbidden[func])
        return func(*args, **(kwargs or {}))


def _refuse(name: str):
    raise OffLimits(f"{name} (also written @)" if name == "torch.Tensor.matmul" else name)


def _refusal(name: str) -> Callable:
    return lambda *args, **kwargs: _refuse(name)


def _namespaces(target: Callable, answer: object) -> list[dict]:
    functions = [answer] if not isinstance(answer, type) else list(vars(answer).values())
    found = [getattr(function, "__globals__", None) for function in functions]
    parts = target.__module__.split(".")  # a package may hand on what its modules define
    modules = ["__main__", *(".".join(parts[:end]) for end in range(1, len(parts) + 1))]
    found += [vars(sys.modules[name]) for name in modules if name in sys.modules]
    return list({id(namespace): namespace for namespace in found if isinstance(namespace, dict)}.values())


@contextlib.contextmanager
def _replaced(namespace: dict, target: Callable, stand_in: Callable) -> Iterator[None]:
    names = [name for name, value in namespace.items() if value is target]
    namespace.update(dict.fromkeys(names, stand_in))
    try:
        yield
    finally:
        namespace.update(dict.fromkeys(names, target))


@contextlib.contextmanager
def _attribute(target: type, name: str, stand_in: Callable) -> Iterator[None]:
    original = vars(target)[name]
    setattr(target, name, stand_in)
    try:
        yield
    finally:
        setattr(target, name, original)
