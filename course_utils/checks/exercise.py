"""What one entry of a check file says: the exercise, what is right, what is wrong and how it is told."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from . import judge as judging
from . import probe as probing
from .verdict import Verdict


@dataclass(frozen=True)
class Mistake:
    """A known wrong answer.

    Args:
        name: Short, unique within the exercise.
        implementation: The wrong answer itself; it must run on the exercise's inputs (or raise as the student's does).
        looks_like: One sentence to the student that says what the answer did.
        advice: One sentence that says what to try.
    """

    name: str
    implementation: Callable
    looks_like: str
    advice: str


@dataclass(frozen=True)
class Alternative:
    """Another right answer.

    Args:
        name: Short, unique within the exercise.
        implementation: The answer.
        off_limits: True if it uses what this exercise puts off limits: right, but not what is asked for.
    """

    name: str
    implementation: Callable
    off_limits: bool = False


def call_in_order(answer: Callable, arguments: dict[str, Any]) -> Any:
    """The ordinary way to call an answer: arguments by position, so that a student may name them freely."""
    return answer(*arguments.values())


@dataclass(frozen=True)
class Exercise:
    """One coding exercise.

    Args:
        number: Such as ``"5.2"``.
        title: As in the notebook's heading.
        points: As in the notebook.
        inputs: Seed -> cases, each a dict of argument name -> plain value (tensors, numbers, strings, lists, dicts),
            the smallest first. Sizes differ from one another, so that a swapped axis shows.
        reference: The right answer.
        returns: Names of the returned parts, in order, for the messages.
        mistakes: Known wrong answers.
        alternatives: Other right answers.
        advice: What to try when the answer resembles no known mistake.
        off_limits: Dotted names that must not be called, such as ``"torch.softmax"``.
        call: How the answer is called on one case; returns plain values.
        expects: What the answer must be: ``"function"`` or ``"class"``.
        rtol: Relative tolerance on floating-point values.
        atol: Absolute tolerance on floating-point values.
    """

    number: str
    title: str
    points: int
    inputs: Callable[[int], list[dict[str, Any]]]
    reference: Callable
    returns: tuple[str, ...]
    mistakes: tuple[Mistake, ...]
    alternatives: tuple[Alternative, ...]
    advice: str
    off_limits: tuple[str, ...] = ()
    call: Callable[[Any, dict[str, Any]], Any] = call_in_order
    expects: str = "function"
    rtol: float = 1e-4
    atol: float = 1e-5

    def probe(self, answer: object, inputs: list[dict[str, Any]], *, guarded: bool = True) -> dict:
        """Call the answer on each case; returns plain data only (``codec``). ``guarded``: off-limits calls raise."""
        names = self.off_limits if guarded else ()
        return probing.observe(answer, inputs, call=self.call, expects=self.expects, off_limits=names)

    def judge_for(self, inputs: list[dict[str, Any]]) -> Callable[[dict], Verdict]:
        """From observations to verdict, for any number of answers to the same inputs. Runs no student code."""
        return judging.Judge(self, inputs).verdict

    def judge(self, inputs: list[dict[str, Any]], observations: dict) -> Verdict:
        """Compare observations with what is right and with what is known to go wrong. Runs no student code."""
        return self.judge_for(inputs)(observations)


@dataclass(frozen=True)
class Option:
    """One option of a quiz: its text as in the notebook, and why it is right or wrong."""

    text: str
    explanation: str


@dataclass(frozen=True)
class Quiz:
    """One quiz question, answered by a letter.

    Args:
        number: Such as ``"5.8"``.
        title: As in the notebook's heading.
        points: As in the notebook.
        options: Letter -> option. A test holds their texts to the notebook's.
        right: The letter of the right option.
    """

    number: str
    title: str
    points: int
    options: dict[str, Option] = field(hash=False)
    right: str

    def __post_init__(self) -> None:
        if self.right not in self.options:
            raise ValueError(f"quiz {self.number}: right ({self.right!r}) is not one of {', '.join(self.options)}")

    def inputs(self, seed: int) -> list:
        """A quiz has no inputs."""
        return []

    def probe(self, answer: object, inputs: list, *, guarded: bool = True) -> dict:
        """The answer as plain data."""
        return probing.observe_value(answer)

    def judge_for(self, inputs: list) -> Callable[[dict], Verdict]:
        """From observations to verdict."""
        return partial(judging.judge_quiz, self)

    def judge(self, inputs: list, observations: dict) -> Verdict:
        """Right, or why the chosen option is not."""
        return self.judge_for(inputs)(observations)
