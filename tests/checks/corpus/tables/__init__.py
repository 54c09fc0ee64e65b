"""What the first tables of the checks knew: wrong and right answers by exercise and name."""

from collections.abc import Callable
from typing import NamedTuple


class Wrong(NamedTuple):
    """A wrong answer: what it is called and the answer."""

    name: str
    implementation: Callable


class Right(NamedTuple):
    """A right answer; ``off_limits`` if it uses what the exercise asks the student to write."""

    name: str
    implementation: Callable
    off_limits: bool = False


class Answers(NamedTuple):
    """The answers to one exercise."""

    number: str
    alternatives: tuple[Right, ...]
    mistakes: tuple[Wrong, ...]
