"""``check(number, answer)`` and ``failing_case()``: the whole interface that a notebook uses.

The judges are imported where they are needed: who only probes answers loads no right one with this package.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from course_utils import progress_log

from .probes import observe_answer
from .probes.state import neutral_state

if TYPE_CHECKING:
    from .judges.exercise import Entry
    from .judges.verdict import Verdict

SEED = 20170612  # fixed, so that a notebook shows the same message on every run; the grader draws its own
_FAILED: dict[str, dict[str, Any]] = {}  # "case": the arguments that the last failed check was called with


class NotYet(Exception):
    """An answer that does not earn its points (yet). The message is all there is to read: no stack is shown."""

    def _render_traceback_(self) -> list[str]:
        """IPython, Jupyter and nbval show these lines in the place of a traceback."""
        return str(self).split("\n")


def check(number: str, answer: object) -> None:
    """Check an answer: a green line if it is right, an error that says what differs if it is not.

    Args:
        number: The exercise, such as ``"1.2"``.
        answer: The function, class, quiz letter or results that the exercise asks for.

    Raises:
        NotYet: The answer is missing or not right yet.
        ValueError: There is no such exercise.
    """
    from .judges.find import find

    entry = find(number)
    inputs = _inputs(entry, SEED)
    verdict = _verdict(entry, answer, inputs)
    if not verdict.passed:
        if verdict.case is not None:
            _FAILED["case"] = entry.probe.hands_out(inputs[verdict.case])
        raise NotYet(verdict.text(in_notebook=True)) from None
    _show(verdict)
    progress_log.passed(number)


def failing_case() -> dict[str, Any]:
    """The arguments that the last failed check was called with, exact and whole, to try one's code on.

    ``case = failing_case()``, then ``your_function(*case.values())``, or one argument: ``case["mask"]``.

    Returns:
        Argument name -> a copy of its value, in the order of the call.

    Raises:
        LookupError: No check with arguments has failed yet.
    """
    if "case" not in _FAILED:
        raise LookupError("no check has failed with arguments to show yet: run check(...) on your answer first")
    return copy.deepcopy(_FAILED["case"])


def run(entry: Entry, answer: object, seed: int = SEED) -> Verdict:
    """Probe and judge in this process, leaving every global state as it was."""
    return _verdict(entry, answer, _inputs(entry, seed))


def _inputs(entry: Entry, seed: int) -> list:
    from .judges.judge import cases_of

    with neutral_state():
        return cases_of(entry, seed)


def _verdict(entry: Entry, answer: object, inputs: list) -> Verdict:
    from .judges.judge import judge_for

    return judge_for(entry, inputs)(observe_answer(entry.number, answer, inputs))


def _show(verdict: Verdict) -> None:
    """The green box where there is a notebook, its text elsewhere."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        get_ipython = lambda: None  # noqa: E731
    if get_ipython() is None:
        print(verdict.text())
    else:
        display({"text/plain": verdict.text(), "text/html": verdict.html()}, raw=True)
