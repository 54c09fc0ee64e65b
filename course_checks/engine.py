"""``check(number, answer)``, ``hint()`` and ``failing_case()``: the whole interface that a notebook uses.

What decides is imported where it is needed: who only runs answers loads no right one with this package.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from course_utils import progress_log

from .running import observe_answer
from .running.neutral_state import neutral_state

if TYPE_CHECKING:
    from .deciding.exercise import Entry
    from .deciding.verdict import Verdict
    from .running.call import Case
    from .running.encode import Tree

BOLD = "\x1b[1m{}\x1b[0m"  # a notebook and a terminal show it so
SEED = 20170612  # fixed, so that a notebook shows the same message on every run; the grader draws its own
_LAST: dict[str, Any] = {}  # "verdict" and "case" (the arguments it was called with) of the last check that failed
_FAILED: set[str] = set()  # the exercises whose check has failed in this kernel


class NotYet(Exception):
    """An answer that does not earn its points (yet). The message is all there is to read: no stack is shown."""

    def _render_traceback_(self) -> list[str]:
        """IPython, Jupyter and nbval show these lines in the place of a traceback; first what the eye should find first."""
        from .deciding.verdict import FAILS, LOOKS_LIKE, TRY

        first, *lines = str(self).split("\n")
        for label in (LOOKS_LIKE.strip(), FAILS.strip(), TRY.strip()):
            lines = [
                BOLD.format(label) + line.removeprefix(label) if line.startswith(label) else line for line in lines
            ]
        return [BOLD.format(first), *lines]


def check(number: str, answer: object) -> None:
    """Check an answer: a green line if it is right, an error that says what differs if it is not.

    What to try comes with the second failure of the same exercise, or by ``hint()``.

    Args:
        number: The exercise, such as ``"1.2"``.
        answer: The function, class, quiz letter or results that the exercise asks for.

    Raises:
        NotYet: The answer is missing or not right yet.
        ValueError: There is no such exercise.
    """
    from .deciding.find import find

    entry = find(number)
    cases, decide = _prepared(entry, SEED)
    verdict = decide(observe_answer(answer, entry.call, cases))
    if old := _judged_is_old():
        print(old)
    if not verdict.passed:
        _LAST["verdict"] = verdict
        if verdict.case is not None:
            _LAST["case"] = entry.call.shown(cases[verdict.case])
        again = number in _FAILED or not verdict.attempted
        if verdict.attempted:
            _FAILED.add(number)
        raise NotYet(verdict.text(in_notebook=True, remedy=again)) from None
    _FAILED.discard(number)
    _show(verdict)
    progress_log.passed(number)


def hint(number: str | None = None) -> None:
    """Print what to try after the last check that failed; it never stops a notebook that runs from the top.

    Args:
        number: Which exercise's, if one likes to say so: the last one that failed.
    """
    verdict = _LAST.get("verdict")
    if verdict is None:
        print("no check has failed yet: run check(...) on your answer first")
    elif number not in (None, verdict.number):
        print(f"the last check that failed was {verdict.number}: run the check of {number} on your answer first")
    else:
        advice = verdict.advice or "read the message of the check once more; it says what is asked for."
        print(f"{verdict.number}: {advice}")


def failing_case() -> dict[str, Any]:
    """The arguments that the last failed check was called with, exact and whole, to try one's code on.

    ``case = failing_case()``, then ``your_function(*case.values())``, or one argument: ``case["mask"]``.

    Returns:
        Argument name -> a copy of its value, in the order of the call.

    Raises:
        LookupError: No check with arguments has failed yet.
    """
    if "case" not in _LAST:
        raise LookupError("no check has failed with arguments to show yet: run check(...) on your answer first")
    return copy.deepcopy(_LAST["case"])


def run(entry: Entry, answer: object, seed: int = SEED) -> Verdict:
    """Run and decide in this process, leaving every global state as it was."""
    cases, decide = _prepared(entry, seed)
    return decide(observe_answer(answer, entry.call, cases))


def _prepared(entry: Entry, seed: int) -> tuple[list[Case], Callable[[Tree], Verdict]]:
    from .deciding.decide import cases_of, decider

    with neutral_state():
        cases = cases_of(entry, seed)
    return cases, decider(entry, cases)


def _shell() -> Any:
    """The notebook's shell; None elsewhere."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()


def _judged_is_old() -> str:
    """A sentence if the cell that was run before this one is no Python, or stopped: an answer from before it may be judged."""
    last = getattr(_shell(), "last_execution_result", None)
    problem = getattr(last, "error_before_exec", None)
    if isinstance(problem, SyntaxError):
        return f"The cell before this one did not run (line {problem.lineno}: {problem.msg}). What is checked is from before it."
    stopped = getattr(last, "error_in_exec", None)
    if stopped is None or isinstance(stopped, NotYet):
        return ""
    why = f"{type(stopped).__name__}: {stopped}".splitlines()[0].removesuffix(": ")
    return f"The cell before this one stopped ({why}). If your answer stands there, what is checked is from before it."


def _show(verdict: Verdict) -> None:
    """The green box where there is a notebook, its text elsewhere."""
    if _shell() is None:
        print(verdict.text())
    else:
        from IPython.display import display

        display({"text/plain": verdict.text(), "text/html": verdict.html()}, raw=True)
