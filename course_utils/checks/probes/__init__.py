"""The first half of a check: call an answer and note, as plain data, what it did. It knows no right answer.

Whatever runs here may run beside a student's code; nothing of ``judges`` is imported (a test holds it). ``observe`` calls and
notes, ``codec`` makes plain data, ``guard`` refuses what an exercise puts off limits, ``state`` keeps settings neutral;
``lessons`` says how an exercise's answer is called where that is not the ordinary way.
"""

from .find import observe_answer, probe_of

__all__ = ["observe_answer", "probe_of"]
