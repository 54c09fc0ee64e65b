"""Which probe an exercise has, and the whole first half of its check."""

import functools
import importlib
import importlib.util
from typing import Any

from ..catalogue import listed
from .observe import observe, observe_value
from .probe import Probe


def observe_answer(number: str, answer: object, inputs: list[dict[str, Any]], *, guarded: bool = True) -> dict:
    """What an answer does on each case (a quiz's or an experiment's: its value), as plain data.

    Args:
        number: The exercise.
        answer: Whatever the student handed over.
        inputs: The cases; the answer gets copies.
        guarded: Whether what is off limits raises.

    Raises:
        ValueError: There is no such exercise.
    """
    if listed(number).is_quiz:
        return observe_value(answer)
    probe = probe_of(number)
    return observe_value(answer) if probe.expects == "value" else observe(answer, inputs, probe, guarded=guarded)


def probe_of(number: str) -> Probe:
    """How the answer of one exercise is probed.

    Raises:
        ValueError: There is no such exercise.
    """
    entry = listed(number)
    return _probes(entry.lesson).get(entry.answer, Probe())


@functools.cache
def _probes(lesson: int) -> dict[str, Probe]:
    name = f"{__package__}.lessons.lesson_{lesson:02d}"
    if importlib.util.find_spec(name) is None:
        return {}
    return importlib.import_module(name).PROBES
