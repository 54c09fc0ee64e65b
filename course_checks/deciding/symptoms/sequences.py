"""Lists and strings that differ: their order, their ends."""

from collections.abc import Callable
from typing import Any

from ...running.encode import decode
from ..wrong_answer import Diagnosis, WrongAnswer, symptom


def other_ends(answer: WrongAnswer) -> Diagnosis | None:
    """The right list or string with something more or less at one end."""
    for part in answer.parts():
        wrong = [(decode(pair.expected), decode(pair.actual)) for pair in part.pairs if pair.wrong]
        if not all(type(expected) is type(actual) and isinstance(expected, list | str) for expected, actual in wrong):
            continue
        for sentence, test in (
            (
                "goes on after the right end: what comes first is right",
                lambda w, h: len(h) > len(w) and h[: len(w)] == w,
            ),
            ("stops too early: what is there is right", lambda w, h: len(h) < len(w) and w[: len(h)] == h),
            (
                "begins too early: it ends with what is right",
                lambda w, h: len(h) > len(w) and h[-len(w) or len(h) :] == w,
            ),
            ("lacks its beginning: what is there is right", lambda w, h: len(h) < len(w) and w[len(w) - len(h) :] == h),
        ):
            if all(_holds(test, expected, actual) for expected, actual in wrong):
                advice = "check the condition that begins or ends your loop or slice."
                return symptom(f"`{part.name}` {sentence}.", advice, sentence.split(":")[0])
    return None


def _holds(test: Callable[[Any, Any], bool], expected: Any, actual: Any) -> bool:
    try:
        return bool(test(expected, actual))
    except RuntimeError:  # tensors in it
        return False
