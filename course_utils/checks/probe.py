"""The first half of a check: call the student's answer and note, as plain data, what it did.

This half runs where student code runs: in the notebook's kernel. It decides nothing.
"""

import copy
import linecache
import os
import sysconfig
from collections.abc import Callable
from typing import Any

import torch

from .codec import encode, type_name
from .global_state import SameNames, neutral_state
from .off_limits import OffLimits, off_limits

# The course, what is installed (torch among it), and Python's own library: their lines tell a student nothing.
NOT_THE_STUDENTS = tuple(
    os.path.abspath(folder) + os.sep
    for folder in (
        os.path.dirname(os.path.dirname(__file__)),
        os.path.dirname(os.path.dirname(torch.__file__)),
        *(sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib")),
    )
)
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
    is_class = issubclass(type(answer), type)  # not isinstance: that believes an object's own word
    fits = is_class if expects == "class" else callable(answer) and not is_class
    if not fits:
        return {"answer": "wrong kind", "type": "class" if is_class else type_name(answer), "cases": []}
    cases = [_observe_case(answer, case, call, off_limits) for case in inputs]
    return {"answer": "called", "type": type_name(answer), "cases": cases}


def observe_value(answer: object) -> dict:
    """Note a value instead of calling it: for a quiz."""
    return {"answer": "missing" if answer is None or answer is ... else "value", "value": encode(answer)}


def _observe_case(answer: Any, case: dict[str, Any], call: Callable, names: tuple[str, ...]) -> dict:
    arguments = copy.deepcopy(case)
    with neutral_state():
        try:
            with off_limits(names, answer), SameNames():
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
    if issubclass(type(problem), OffLimits):
        return {"outcome": "off limits", "type": "OffLimits", "message": str(problem)}
    try:
        message = encode(str(problem))["value"][:MAX_MESSAGE]
    except KeyboardInterrupt:
        raise
    except BaseException:  # the answer may raise an exception of its own whose text cannot be had
        message = ""
    return {"outcome": "raised", "type": type_name(problem), "message": message, "line": _student_line(problem)}


def _student_line(problem: BaseException) -> str:
    """The last line of the student's own code that the exception passed through: ``line 3, `scores = q @ k` ``."""
    found, file = "", None
    step = problem.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        is_students = not os.path.abspath(name).startswith(NOT_THE_STUDENTS)
        if is_students and file in (None, name):
            file = name
            text = linecache.getline(name, step.tb_lineno).strip()[:80]
            found = f"line {step.tb_lineno}, `{text}`" if text else f"line {step.tb_lineno}"
        step = step.tb_next
    return found


def _same(before: Any, after: Any) -> bool:
    """Whether two parts of two trees are the same; NaN is the same as NaN."""
    if isinstance(before, torch.Tensor):
        if not isinstance(after, torch.Tensor) or before.shape != after.shape:
            return False
        return torch.equal(*(torch.nan_to_num(tensor.double(), nan=1e300) for tensor in (before, after)))
    if isinstance(before, dict):
        return before.keys() == after.keys() and all(_same(value, after[key]) for key, value in before.items())
    if isinstance(before, list):
        return len(before) == len(after) and all(map(_same, before, after))
    return before == after
