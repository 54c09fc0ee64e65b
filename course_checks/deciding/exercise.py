"""What is known of an exercise: what its file says, and the solution and mistakes that the build carries from the source."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ..catalogue import CatalogueEntry
from ..running.call import Call, Case
from ..running.encode import Tree, decode, encode
from .solution import Solution, edited

if TYPE_CHECKING:
    from .wrong_answer import Symptom

__all__ = ["Case", "Exercise", "Mistake", "Quiz", "mistake"]


@dataclass(frozen=True)
class Mistake:
    """A known mistake: a change of the worked solution's text. ``mistake`` makes one."""

    looks_like: str
    advice: str
    edits: dict[str, str] = field(hash=False)
    then: Callable | None = None
    instead: Callable | type | None = None

    def on(self, text: str) -> str | None:
        """The solution's text with this mistake in it; None where it does not apply."""
        return edited(text, self.edits)


def mistake(
    looks_like: str,
    advice: str = "",
    edits: dict[str, str] | None = None,
    *,
    then: Callable | None = None,
    instead: Callable | type | None = None,
) -> Mistake:
    """A known mistake.

    Args:
        looks_like: One sentence to the student that says what the answer did.
        advice: One sentence that says what to try; empty: the exercise's own.
        edits: Text of the solution -> what students write in its place. Each old text must stand in the solution.
        then: What is done to the result besides, such as ``torch.nan_to_num``.
        instead: The whole wrong answer, where no edit can say it.
    """
    if (instead is None) == (edits is None and then is None):
        raise ValueError(f"mistake {looks_like!r}: give edits (or then), or instead: one of the two")
    return Mistake(looks_like, advice, edits or {}, then, instead)


class Entry:
    """What coding exercises, quizzes and experiments have in common: what the catalogue says, in ``entry``."""

    entry: CatalogueEntry | None

    @property
    def number(self) -> str:
        """Such as ``"5.2"``."""
        return self.entry.number

    @property
    def title(self) -> str:
        """As in the notebook's heading."""
        return self.entry.title

    @property
    def points(self) -> int:
        """What it is worth."""
        return self.entry.points

    @property
    def call(self) -> Call:
        """How an answer is called; here it is noted only."""
        return Call(expects="value")


@dataclass(frozen=True)
class Exercise(Entry):
    """One coding exercise; its number, title, points, answer's name and worked solution stand in the source.

    Args:
        cases: Seed -> cases, the smallest first. Sizes differ from one another, so that a swapped axis shows.
        returns: Names of the returned parts, in order, for the messages.
        mistakes: Known mistakes that no edit can say; the others stand below the solution in the source.
        advice: What to try when nothing more special can be said.
        symptoms: What can be seen in answers to this exercise only; tried before the general symptoms.
        expects, driver, off_limits, gradients, twice, most_operations, too_many, in_pytorch: How it is called: see ``Call``.
            ``driver`` is the function's name in the lesson's module of ``running.drivers``.
        compared: From a case and what was returned, as plain data, to what is compared in its place, where more than one
            answer is right. It runs where deciding does, so that a student's kernel does not know what it looks at.
        rtol: Relative tolerance on floating-point values (on float64 tensors at most 1e-9).
        atol: Absolute tolerance on floating-point values (on float64 tensors at most 1e-10).
        pairs: How many pairs of mistakes are tried at most on a wrong answer; fewer where one try builds a model.
    """

    cases: Callable[[int], list[Case]]
    returns: tuple[str, ...]
    advice: str
    mistakes: list[Mistake] = field(default_factory=list, hash=False)
    symptoms: tuple[Symptom, ...] = ()
    expects: str = "function"
    driver: str = ""
    off_limits: tuple[str, ...] = ()
    gradients: bool = False
    twice: bool = True
    most_operations: int | None = None
    too_many: str = ""
    in_pytorch: bool = False
    compared: Callable[[Case, Any], Any] | None = None
    rtol: float = 1e-4
    atol: float = 1e-5
    pairs: int = 100
    entry: CatalogueEntry | None = field(default=None, hash=False)

    @functools.cached_property
    def call(self) -> Call:
        """How answers are called."""
        own = {field.name: getattr(self, field.name) for field in fields(Call)}
        driver = self.driver and f"lesson_{self.entry.lesson:02d}.{self.driver}"
        return Call(**own | {"driver": driver, "off_limits": tuple(self.off_limits)})

    @functools.cached_property
    def solution(self) -> Solution:
        """The worked solution."""
        return Solution.of(self.number, self.entry.answer)

    @functools.cached_property
    def known_mistakes(self) -> list[Mistake]:
        """Those of the source, then those of the file; about a dozen at most.

        Raises:
            ValueError: Two of them look alike.
        """
        known = [*(mistake(**known) for known in self.solution.mistakes), *self.mistakes]
        sentences = [mistake.looks_like for mistake in known]
        if double := {sentence for sentence in sentences if sentences.count(sentence) > 1}:
            raise ValueError(f"{self.number}: two mistakes look alike: {' / '.join(sorted(double))}")
        return known

    @functools.cached_property
    def right(self) -> Callable:
        """The right answer: the worked solution itself."""
        return self.solution.answer()

    def wrong(self, *mistakes: Mistake) -> Callable | None:
        """The wrong answer that these mistakes make together; None where they do not go together, or are not Python."""
        first = mistakes[0]
        if first.instead is not None:
            return first.instead if len(mistakes) == 1 else None
        texts = {_edited_in_order(self.solution.text, order) for order in (mistakes, mistakes[::-1])}
        steps = [mistake.then for mistake in mistakes if mistake.then is not None]
        if len(texts) != 1 or None in texts or len(steps) > 1 or any(mistake.instead for mistake in mistakes):
            return None
        try:
            answer = self.solution.answer(texts.pop())
        except SyntaxError:
            return None
        return _and_then(answer, steps[0]) if steps else answer

    def compared_part(self, case: Case, seen: Tree) -> Tree:
        """What was observed in a case, with what is compared in the place of what was returned."""
        if self.compared is None or seen["outcome"] != "returned":
            return seen
        changed = {**seen, "value": encode(self.compared(case, decode(seen["value"])))}
        if "kind" in changed.get("again", ()):
            changed["again"] = encode(self.compared(case, decode(changed["again"])))
            if changed["again"] == changed["value"]:
                del changed["again"]
        return changed


def _edited_in_order(text: str | None, mistakes: tuple[Mistake, ...]) -> str | None:
    for mistake in mistakes:
        text = None if text is None else mistake.on(text)
    return text


def _and_then(answer: Callable, step: Callable) -> Callable:
    return lambda *arguments: step(answer(*arguments))


@dataclass(frozen=True)
class Quiz(Entry):
    """One quiz question, answered by a letter; options, right letter and explanations stand in the exercise's source.

    Args:
        right: The letter of the right option.
        explanations: Letter -> why this option is right or wrong.
    """

    right: str
    explanations: dict[str, str] = field(hash=False)
    entry: CatalogueEntry | None = field(default=None, hash=False)
