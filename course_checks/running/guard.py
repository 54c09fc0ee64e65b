"""Ready-made callables that an exercise asks the student to write: while an answer runs, they raise.

Names of the course are replaced; every call of a torch function is seen, under whatever name or by whatever detour
(``torch.ops``, private names), and of what PyTorch's dispatcher runs the kernels that nothing but the forbidden function
needs: both in the thread that asks and in each that is started meanwhile. docs/teaching.md says what can be done all the same.
"""

import _thread
import contextlib
import functools
import importlib
import sys
import threading
import types
from collections.abc import Callable, Iterator

import torch
from torch.overrides import TorchFunctionMode

from .dispatch import DispatchWatch
from .pytorch_names import SPELLINGS, kernels_of, known_by_pytorch, word_of

STARTERS = {"start_new_thread", "start_new", "start_joinable_thread"}  # of ``_thread``, by whatever name
CHECKS, OPEN = "course_checks", ("check", "failing_case", "hint", "NotYet")
_kept: list[torch.library.Library] = []
hidden_called: set[str] = set()  # in the class grader's sandbox: what was called there and has no body there


class OffLimits(Exception):
    """The answer called something that this exercise asks the student to write."""


def hidden(name: str) -> OffLimits:
    """What a function of the course raises in the class grader's sandbox, where its body was taken out."""
    hidden_called.add(name)
    return OffLimits(name)


@contextlib.contextmanager
def off_limits(names: tuple[str, ...], answer: object, kernels: bool = True) -> Iterator[None]:
    """Make the named callables raise ``OffLimits``, however the student's code came by them.

    Args:
        names: Dotted names: ``"torch.softmax"``, ``"torch.Tensor.softmax"``, ``"course_utils.attention.masked_softmax"``.
        answer: The student's answer; names that its module imported directly are covered too.
        kernels: Watch PyTorch's kernels too; not needed where ``refuse_for_good`` has replaced them.
    """
    if reads_the_checks(answer):
        _refuse(f"{CHECKS}, which holds the answers,")
    targets = loaded(names)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_unimported({name.rpartition(".")[0]: name for name in names if name not in targets}))
        for name, target in targets.items():
            if isinstance(target, type):  # through its constructor: a subclass is caught as well; and what it does
                made_by = "apply" if issubclass(target, torch.autograd.Function) else "__init__"
                for part in (made_by, *({"forward", "_call"} & vars(target).keys())):
                    stack.enter_context(_attribute(target, part, _refusal(name)))
            elif isinstance(target, types.FunctionType):  # written in Python, the course's own or PyTorch's
                for namespace in _namespaces(target, answer):
                    stack.enter_context(_replaced(namespace, target, _refusal(name)))
        stack.enter_context(_torch_guards(targets, kernels))
        stack.enter_context(_in_new_threads(targets, kernels))
        yield


def refuse_for_good(names: tuple[str, ...]) -> None:
    """Put refusals in the place of PyTorch's callables of these names and of their kernels, for this process and all its threads.

    For a process that is thrown away: it sees what the watchmen of a thread do not, such as what PyTorch itself calls back.
    """
    holders, operators = known_by_pytorch()
    for name in reversed([name for name in names if name.startswith("torch.")]):
        word = word_of(name)
        spellings = {word} if word.startswith("__") else {text.format(word) for text in SPELLINGS}
        for holder, present in holders:
            for spelling in spellings & present:
                if callable(getattr(holder, spelling)) and not isinstance(getattr(holder, spelling), type):
                    setattr(holder, spelling, _refusal(name))
    kernels = torch.library.Library("aten", "IMPL")
    for start, name in kernels_of(reversed(names)).items():
        for operator, layout in operators[start]:
            kernels.impl(operator, _refusal(name), layout, allow_override=True)
    _kept.append(kernels)  # what it has registered goes with it


def loaded(names: tuple[str, ...]) -> dict[str, Callable]:
    """Name -> the callable, of those names that belong to what has been imported."""
    return {name: target for name in names if (target := resolve(name, load=False)) is not None}


@contextlib.contextmanager
def _in_new_threads(targets: dict[str, Callable], kernels: bool) -> Iterator[None]:
    """Make PyTorch's callables among these raise ``OffLimits`` in each thread that is started meanwhile, to its end."""

    def guarding(start: Callable) -> Callable:
        def start_guarded(function: Callable, *args, **kwargs):
            def run(*own, **more):
                with _torch_guards(targets, kernels):
                    return function(*own, **more)

            return start(run, *args, **kwargs)

        return start_guarded

    with contextlib.ExitStack() as stack:
        for module in (_thread, threading) if targets else ():
            starters = {id(value): value for name, value in vars(module).items() if name.lstrip("_") in STARTERS}
            for start in starters.values():
                stack.enter_context(_replaced(vars(module), start, guarding(start)))
        yield


@contextlib.contextmanager
def _torch_guards(targets: dict[str, Callable], kernels: bool) -> Iterator[None]:
    """The watchmen of one thread."""
    with contextlib.ExitStack() as stack:
        if targets:
            stack.enter_context(_TorchGuard({target: name for name, target in reversed(targets.items())}))
            if kernels and (forbidden := kernels_of(targets)):
                stack.enter_context(_KernelGuard(forbidden))
        yield


def resolve(name: str, load: bool = True) -> Callable | None:
    """The object that a dotted name stands for.

    Args:
        name: Such as ``"torch.softmax"``.
        load: False: None for what belongs to a part of PyTorch that nobody has imported, which may take seconds.

    Raises:
        ValueError: There is no such object.
    """
    parts = name.split(".")
    loaded_only = parts[0] == "torch" and not load
    for split in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:split])
        try:
            holder = sys.modules.get(module) if loaded_only else importlib.import_module(module)
            return functools.reduce(getattr, parts[split:], holder)
        except (ImportError, AttributeError):
            continue
    if loaded_only:
        return None
    raise ValueError(f"off_limits: nothing is called {name!r}")


@contextlib.contextmanager
def _unimported(names: dict[str, str]) -> Iterator[None]:
    """Importing one of these parts of PyTorch, which nothing else imports, raises ``OffLimits`` with the name that it holds."""

    class Finder:
        @staticmethod
        def find_spec(module, path=None, target=None):
            if module in names:
                _refuse(names[module])

    sys.meta_path.insert(0, Finder)
    try:
        yield
    finally:
        sys.meta_path.remove(Finder)


class _TorchGuard(TorchFunctionMode):
    """Sees every call of a torch function or tensor method, whatever name it was imported under."""

    def __init__(self, forbidden: dict[Callable, str]) -> None:
        super().__init__()
        self.forbidden = forbidden
        self.words = {word_of(name): name for name in forbidden.values()}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in self.forbidden:
            _refuse(self.forbidden[func])
        if (word := _behind(func)) and (name := self.words.get(word)):
            _refuse(f"{name} (by the name {word})")
        return func(*args, **(kwargs or {}))


class _KernelGuard(DispatchWatch):
    """Sees every kernel that runs, whoever called it."""

    def __init__(self, forbidden: dict[str, str]) -> None:
        super().__init__()
        self.forbidden = forbidden

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kernel = func._schema.name.rpartition("::")[2]
        for start, name in self.forbidden.items():
            if kernel.startswith(start) and "backward" not in kernel:
                _refuse(f"{name} (something you call computes it)")
        return func(*args, **(kwargs or {}))


def reads_the_checks(answer: object) -> bool:
    """Whether an answer is the checks' own, or its code names something inside ``course_checks``."""
    functions = list(vars(answer).values()) if isinstance(answer, type) else [answer]
    functions = [getattr(function, "func", getattr(function, "__func__", function)) for function in functions]
    return any(
        _is_inside(function) or _code_reads(function)
        for function in functions
        if isinstance(function, types.FunctionType)
    )


def _code_reads(function: types.FunctionType) -> bool:
    waiting = [function.__code__]
    while waiting:
        code = waiting.pop()
        waiting += [part for part in code.co_consts if isinstance(part, types.CodeType)]
        if any(isinstance(text, str) and f"{CHECKS}." in text for text in (*code.co_consts, *code.co_names)):
            return True
        if any(_is_inside(function.__globals__[name]) for name in code.co_names if name in function.__globals__):
            return True
    return False


def _is_inside(value: object) -> bool:
    """Whether a module, function or class is of the checks, and not what every notebook may use."""
    if not isinstance(value, types.ModuleType | types.FunctionType | type | type(functools.cache(len))):
        return False
    module = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", "")
    name = "" if isinstance(value, types.ModuleType) else value.__name__
    return isinstance(module, str) and module.startswith(CHECKS) and name not in OPEN


def _behind(func: Callable) -> str | None:
    """The plain word behind a low-level or private callable: ``softmax`` for ``torch._softmax``, ``torch.ops.aten.softmax``."""
    name = getattr(func, "__name__", "")
    low_level = type(func).__name__ in ("OpOverload", "OpOverloadPacket")
    if (
        not isinstance(name, str)
        or not (low_level or name.startswith(("_", "special_", "native_")))
        or name[:2] == "__"
    ):
        return None
    return name.partition(".")[0].strip("_").removeprefix("special_").removeprefix("native_").removesuffix("_math")


def _refuse(name: str):
    raise OffLimits(f"{name} (also written @)" if name == "torch.Tensor.matmul" else name)


def _refusal(name: str) -> Callable:
    return lambda *args, **kwargs: _refuse(name)


def _namespaces(target: Callable, answer: object) -> list[dict]:
    functions = [answer] if not isinstance(answer, type) else list(vars(answer).values())
    namespaces = [getattr(function, "__globals__", None) for function in functions]
    parts = target.__module__.split(".")  # a package may hand on what its modules define
    modules = ["__main__", *(".".join(parts[:end]) for end in range(1, len(parts) + 1))]
    namespaces += [vars(sys.modules[name]) for name in modules if name in sys.modules]
    return list({id(namespace): namespace for namespace in namespaces if isinstance(namespace, dict)}.values())


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
    original = vars(target).get(name)
    setattr(target, name, stand_in)
    try:
        yield
    finally:
        delattr(target, name) if original is None else setattr(target, name, original)
