"""What surrounds an answer while it runs: neutral settings inside, and everything as it was afterwards."""

import builtins
import contextlib
import math
import random
import sys
import warnings
from collections.abc import Iterator

import numpy as np
import torch

PACKAGES = ("course_checks", "course_utils", "course_grader")  # what of the grader runs beside the answer too
SETTINGS = (
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_num_threads, torch.set_num_threads),
    (torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (np.geterr, lambda choices: np.seterr(**choices)),
)
GENERATORS = (
    (torch.get_rng_state, torch.set_rng_state),
    (random.getstate, random.setstate),
    (np.random.get_state, np.random.set_state),
)
CPU = torch.device("cpu")
USE_OF_T = r"The use of `x\.T`"  # PyTorch's warning names a file of this package, where the answer is run


@contextlib.contextmanager
def neutral_state() -> Iterator[None]:
    """Default dtype, device, grad mode and a fixed seed inside; everything global as it was before outside."""
    settings = [(get, put, get()) for get, put in SETTINGS]
    generators = [(put, get()) for get, put in GENERATORS]
    device = _default_device()
    try:
        torch.set_default_dtype(torch.float32)
        _set_device(CPU)
        torch.default_generator.manual_seed(0)  # torch.manual_seed also notes a stack for each kind of device: slow
        with torch.enable_grad(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", USE_OF_T)
            yield
    finally:
        for get, put, before in settings:
            if get() != before:
                put(before)
        _set_device(device)
        for put, before in generators:
            put(before)


class SameNames:
    """What goes by a name in Python, PyTorch and this package goes by it again afterwards.

    An answer that assigns to ``torch.isclose`` or ``builtins.len`` would otherwise change what judges it. Until the
    builtins are back, ``__exit__`` looks none of them up.
    """

    def __enter__(self) -> None:
        """Note every name."""
        own = [module for name, module in sys.modules.items() if name.partition(".")[0] in PACKAGES]
        modules = [builtins, math, torch, torch.nn.functional, *own]
        self.spaces = [(vars(module), dict(vars(module))) for module in modules]
        self.tensor = (torch.Tensor, dict(vars(torch.Tensor)))
        self.modes = _function_modes()

    def __exit__(self, *problem: object) -> None:
        """Put back what changed."""
        for space, names in self.spaces:
            space.update(names)
        owner, names = self.tensor
        for name, value in dict(vars(owner)).items():
            if name not in names:
                delattr(owner, name)
            elif value is not names[name]:
                setattr(owner, name, names[name])
        if _function_modes() != self.modes:
            _set_device(CPU)  # takes its own mode away, so that the others can be put back
            for _ in _function_modes():
                torch._C._pop_torch_function_stack()
            for mode in self.modes:
                torch._C._push_on_torch_function_stack(mode)


def _default_device() -> torch.device:
    try:
        return torch.get_default_device()
    except AttributeError:  # PyTorch 2.5 and 2.6, once set_default_device(None) was called
        return CPU


def _set_device(device: torch.device) -> None:
    if _default_device() != device:
        torch.set_default_device(None if device == CPU else device)


def _function_modes() -> list:
    """The modes that see every call of a torch function, the outermost first."""
    return [torch._C._get_function_stack_at(index) for index in range(torch._C._len_torch_function_stack())]
