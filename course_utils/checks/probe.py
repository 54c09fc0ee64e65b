"""The first half of a check: call the student's answer and note, as plain data, what it did.

This half runs where student code runs: in the notebook's kernel. It decides nothing.
"""

import contextlib
import copy
import linecache
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from .codec import encode, type_name
from .off_limits import OffLimits, off_limits

PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAX_MESSAGE = 400


def observe(
    answer: object,
    inputs: list[dict[str, Any]],
    *,
    call: Callable[[Any, dict[str, Any]], Any],
    expects: str,
    off_limits: tuple[str, ...] = (),
) -> dict:
    """Call ``answer`` once for each case.

    Args:
        answer: Whatever the student handed over.
        inputs: The cases. The answer gets copies.
        call: How the answer is called on one case.
        expects: ``"function"`` or ``"class"``.
        off_limits: Dotted names that raise while the answer runs.

    Returns:
        ``{"answer": "missing" | "wrong kind" | "called", "type": ..., "cases": [...]}``, plain data throughout.
    """
    if answer is None or answer is ...:
        return {"answer": "missing", "type": type_name(answer), "cases": []}
    fits = isinstance(answer, type) if expects == "class" else callable(answer) and not isinstance(answer, type)
    if not fits:
        return {"answer": "wrong kind", "type": type_name(answer), "cases": []}
    cases = [_observe_case(answer, case, call, off_limits) for case in inputs]
    return {"answer": "called", "type": type_name(answer), "cases": cases}


def observe_value(answer: object) -> dict:
    """Note a value instead of calling it: for a quiz."""
    return {"answer": "missing" if answer is None or answer is ... else "value", "value": encode(answer)}


@contextlib.contextmanager
def neutral_state() -> Iterator[None]:
    """Default dtype, device, grad mode and a fixed seed inside; everything global as it was before outside."""
    before = (torch.get_rng_state(), random.getstate(), np.random.get_state())
    dtype, device, threads = torch.get_default_dtype(), torch.get_default_device(), torch.get_num_threads()
    try:
        torch.set_default_dtype(torch.float32)
        _set_device(torch.device("cpu"))
        torch.manual_seed(0)
        with torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(dtype)
        _set_device(device)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        torch.set_rng_state(before[0])
        random.setstate(before[1])
        np.random.set_state(before[2])


def _set_device(device: torch.device) -> None:
    if torch.get_default_device() != device:
        torch.set_default_device(device)


def _observe_case(answer: Any, case: dict[str, Any], call: Callable, names: tuple[str, ...]) -> dict:
    arguments = copy.deepcopy(case)
    with neutral_state():
        try:
            with off_limits(names, answer):
                value = call(answer, arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:  # also SystemExit: an answer may call exit()
            seen = _describe_exception(problem)
        else:
            seen = {"outcome": "returned", "value": encode(value)}
    seen["changed"] = [name for name in case if not _same(encode(case[name]), encode(arguments[name]))]
    return seen


def _describe_exception(problem: BaseException) -> dict:
    if isinstance(problem, OffLimits):
        return {"outcome": "off limits", "type": "OffLimits", "message": str(problem)}
    try:
        message = str(problem)[:MAX_MESSAGE]
    except Exception:  # the answer may raise an exception of its own whose text cannot be had
        message = ""
    return {"outcome": "raised", "type": type_name(problem), "message": message, "line": _student_line(problem)}


def _student_line(problem: BaseException) -> str:
    """The last line of the student's own code that the exception passed through: ``line 3, `scores = q @ k` ``."""
    found, file = "", None
    step = problem.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        is_own = os.path.abspath(name).startswith(PACKAGE_FOLDER + os.sep) or name == contextlib.__file__
        if not is_own and file in (None, name):
            file = name
            text = linecache.getline(name, step.tb_lineno).strip()[:80]
            found = f"line {step.tb_lineno}, `{text}`" if text else f"line {step.tb_lineno}"
        step = step.tb_next
    return found


def _same(before: dict, after: dict) -> bool:
    if before.keys() != after.keys():
        return False
    for key, value in before.items():
        other = after[key]
        if isinstance(value, torch.Tensor):
            if not torch.equal(
                torch.nan_to_num(value.double(), nan=1e300), torch.nan_to_num(other.double(), nan=1e300)
            ):
                return False
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            if len(value) != len(other) or not all(map(_same, value, other)):
                return False
        elif value != other:
            return False
    return True
