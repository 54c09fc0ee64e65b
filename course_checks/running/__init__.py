"""The first half of a check: call an answer and note, as plain data, what it did. It knows no right answer.

Whatever runs here may run beside a student's code; nothing of ``deciding`` or of a lesson is imported (a test holds it).
``call`` says how an answer is called, ``observe`` calls and notes, ``encode`` makes plain data, ``guard`` refuses what an
exercise puts off limits, ``neutral_state`` keeps settings as they were; ``drivers`` call an answer where it is called in a
way of its own.
"""

from .call import Call, Case
from .observe import observe_answer

__all__ = ["Call", "Case", "observe_answer"]
