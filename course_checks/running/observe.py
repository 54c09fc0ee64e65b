"""The first half of a check: call the student's answer and note, as plain data, what it did.

This half runs where student code runs: in the notebook's kernel. It decides nothing.
"""

import contextlib
import copy
import io
import linecache
import os
import sysconfig
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

import course_utils

from .call import Call, Case
from .encode import MAX_NODES_ALONE, encode, type_name
from .guard import OffLimits, off_limits
from .neutral_state import SameNames, neutral_state

# The course, what is installed (torch among it), and Python's own library: their lines tell a student nothing.
NOT_THE_STUDENTS = tuple(
    os.path.abspath(folder) + os.sep
    for folder in (
        os.path.dirname(os.path.dirname(__file__)),
        os.path.dirname(course_utils.__file__),
        os.path.dirname(os.path.dirname(torch.__file__)),
        *(sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib")),
    )
)
MAX_MESSAGE = 400


def observe_answer(answer: object, call: Call, cases: list[Case], *, guarded: bool = True) -> dict:
    """The whole first half of a check.

    Args:
        answer: Whatever the student handed over.
        call: How it is called; a quiz's letter and an experiment's numbers are noted only.
        cases: The cases; the answer gets copies.
        guarded: Whether what is off limits raises.
    """
    return observe_value(answer) if call.expects == "value" else observe(answer, cases, call, guarded=guarded)


def observe(answer: object, inputs: list[Case], call: Call, *, guarded: bool = True, trusted: bool = False) -> dict:
    """Call ``answer`` once for each case, and where the exercise says so again, backwards, and for gradients.

    Args:
        answer: Whatever the student handed over.
        inputs: The cases. The answer gets copies.
        call: How it is called and watched.
        guarded: Whether what is off limits raises.
        trusted: The answer is the check's own: it is not guarded, and not called again.

    Returns:
        ``{"answer": "missing" | "wrong kind" | "called", "type": ..., "name": ..., "cases": [...]}``, plain data
        throughout. A case holds ``outcome`` (returned, raised, off limits), what goes with it, ``changed`` (arguments
        changed in place), ``drew`` (random numbers were drawn), and where it was watched ``gradients`` and ``again``.
    """
    if answer is None or answer is ...:
        return {"answer": "missing", "type": type_name(answer), "cases": []}
    is_class = issubclass(type(answer), type)  # not isinstance: that believes an object's own word
    fits = is_class if call.expects == "class" else callable(answer) and not is_class
    if not fits:
        return {"answer": "wrong kind", "type": "class" if is_class else type_name(answer), "cases": []}
    names = call.off_limits if guarded and not trusted else None
    cases = [observe_case(answer, case, call, names, trusted) for case in inputs]
    if call.twice and not trusted:
        for case, seen in zip(reversed(inputs), reversed(cases), strict=True):
            if seen["outcome"] == "returned":
                _note_again(seen, _call(answer, copy.deepcopy(case), call.on, names, trusted))
    name = answer.__name__ if type(answer) is types.FunctionType else ""
    return {"answer": "called", "type": type_name(answer), "name": name, "cases": cases}


def observe_value(answer: object) -> dict:
    """Note a value instead of calling it: for a quiz or an experiment."""
    return {
        "answer": "missing" if answer is None or answer is ... else "value",
        "value": encode(answer, MAX_NODES_ALONE),
    }


def observe_case(
    answer: Any,
    case: Case,
    call: Call,
    names: tuple[str, ...] | None = None,
    trusted: bool = True,
    side_effects: bool = True,
) -> dict:
    """What an answer does on one case.

    Args:
        answer: As for ``observe``.
        case: The arguments by name.
        call: How it is called and watched.
        names: The names that raise; None: the guard is down.
        trusted: As for ``observe``.
        side_effects: Whether to look beside the value too: at changed arguments and gradients.
    """
    arguments = copy.deepcopy(case)
    seen = _call(answer, arguments, call.on, names, trusted)
    if not side_effects:
        return seen
    seen["changed"] = [name for name in case if not _same(encode(case[name]), encode(arguments[name]))]
    if call.gradients and seen["outcome"] == "returned" and not case.values_only:
        seen["gradients"] = _gradients(answer, case, call, names, trusted)
    return seen


def _call(answer: Any, arguments: Case, run: Callable, names: tuple[str, ...] | None, trusted: bool) -> dict:
    with neutral_state():
        before = torch.get_rng_state()
        try:
            with contextlib.redirect_stdout(io.StringIO()) if trusted else _watched(names, answer):  # it may print
                value = run(answer, arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:  # also SystemExit: an answer may call exit()
            seen = _describe_exception(problem)
        else:
            seen = {"outcome": "returned", "value": encode(value)}
        seen["drew"] = not torch.equal(before, torch.get_rng_state())
    return seen


@contextlib.contextmanager
def _watched(names: tuple[str, ...] | None, answer: Any) -> Iterator[None]:
    """``names`` None: the guard is down, and nothing is off limits, the checks themselves included."""
    with contextlib.nullcontext() if names is None else off_limits(names, answer), SameNames():
        yield


def _note_again(seen: dict, again: dict) -> None:
    if again["outcome"] != "returned":
        seen["again"] = {key: again.get(key, "") for key in ("type", "message")}
    elif not _same(seen["value"], again["value"]):
        seen["again"] = again["value"]


def _gradients(answer: Any, case: Case, call: Call, names: tuple[str, ...] | None, trusted: bool) -> dict:
    """Gradients of a fixed weighted sum of the outputs, by argument or entry of one; as text, why there are none."""
    arguments = copy.deepcopy(case)
    leaves = {}
    for name, value in arguments.items():
        places = [(name, arguments, name)]
        if isinstance(value, dict):
            places = [(f"{name}[{key!r}]", value, key) for key in value]
        for label, holder, key in places:
            if isinstance(holder[key], torch.Tensor) and holder[key].is_floating_point():
                leaves[label] = holder[key].requires_grad_()
                with torch.enable_grad():  # a cell of the notebook may have switched it off
                    holder[key] = holder[key].clone()
    gradients_by_name = {}

    def backward(answer, arguments):
        total = _weighted_sum(call.on(answer, arguments))
        if total is not None:
            gradients = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
            gradients_by_name.update(zip(leaves, gradients, strict=True))

    seen = _call(answer, arguments, backward, names, trusted)
    if seen["outcome"] != "returned":
        return {"kind": "str", "value": f"{seen.get('type', 'OffLimits')}: {seen['message']}"}
    return encode(gradients_by_name) if gradients_by_name else {"kind": "str", "value": "none"}


def _weighted_sum(value: Any) -> torch.Tensor | None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        sums = [part for item in value if (part := _weighted_sum(item)) is not None]
        return sum(sums[1:], sums[0]) if sums else None
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not value.requires_grad:
        return None
    weights = torch.arange(1.0, value.numel() + 1, dtype=value.dtype).cos().view(value.shape)
    return (value * weights).sum()


def _describe_exception(problem: BaseException) -> dict:
    if issubclass(type(problem), OffLimits):
        return {"outcome": "off limits", "type": "OffLimits", "message": str(problem)}
    try:
        message = encode(str(problem))["value"][:MAX_MESSAGE]
    except KeyboardInterrupt:
        raise
    except BaseException:  # the answer may raise an exception of its own whose text cannot be had
        message = ""
    return {"outcome": "raised", "type": type_name(problem), "message": message, **_student_line(problem)}


def _student_line(problem: BaseException) -> dict[str, str]:
    """The last line of the student's own code that the exception passed through, and the function it stands in."""
    line_and_function, file = {"line": "", "function": ""}, None
    step = problem.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        is_students = not os.path.abspath(name).startswith(NOT_THE_STUDENTS)
        if is_students and file in (None, name):
            file = name
            text = linecache.getline(name, step.tb_lineno).strip()[:80]
            line = f"line {step.tb_lineno}, `{text}`" if text else f"line {step.tb_lineno}"
            line_and_function = {"line": line, "function": step.tb_frame.f_code.co_name[:60]}
        step = step.tb_next
    return line_and_function


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
