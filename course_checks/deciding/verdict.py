"""What deciding says, and how a student reads it."""

import html
import textwrap
from dataclasses import dataclass

from .compare import Difference

WIDTH = 90
MAX_LINES = 14
LOOKS_LIKE, FAILS, TRY = "It looks like: ", "Where it fails: ", "Try: "  # what the labelled lines begin with


@dataclass(frozen=True)
class Verdict:
    """The outcome of one exercise.

    Args:
        number: The exercise.
        points: What it is worth.
        passed: Whether the points are earned.
        attempted: False if the answer is still the empty stub.
        what: What happened, where there are no two values to compare.
        difference: The first difference from what is right.
        called_with: The arguments of the case that shows it.
        case: Index of that case.
        right_in: For each case whether the answer is right in it; empty where no case was compared.
        mistake: Name of what the answer was seen to do; two names joined by " + " if it is two things at once.
        found_by: How that was found: ``mistake``, ``symptom``, ``pair``, ``contrast``; empty where nothing was.
        looks_like: What the answer did, if known.
        advice: What to try.
        explanation: Why a right answer is right (quizzes).
    """

    number: str
    points: int
    passed: bool
    attempted: bool = True
    what: str = ""
    difference: Difference | None = None
    called_with: str = ""
    case: int | None = None
    right_in: tuple[bool, ...] = ()
    mistake: str | None = None
    found_by: str = ""
    looks_like: str = ""
    advice: str = ""
    explanation: str = ""

    @property
    def earned(self) -> int:
        """Points earned."""
        return self.points if self.passed else 0

    def text(self, show_expected: bool = True, in_notebook: bool = False, remedy: bool = True) -> str:
        """The whole message, at most 14 lines of at most 90 characters.

        Args:
            show_expected: Whether the right value may be read in it.
            in_notebook: Whether it may name ``failing_case()`` and ``hint()``.
            remedy: Whether it says what to try.
        """
        worth = f"{self.earned} of {self.points} point{'' if self.points == 1 else 's'}"
        if self.passed:
            return "\n".join([f"✓ {self.number} right · {worth}", *_wrap("", self.explanation)])
        lines = [f"{self.number} {'not yet' if self.attempted else 'not attempted yet'} · {worth}"]
        lines += _wrap("", self.what, most=3)
        if self.difference:
            lines += _wrap("", self.difference.sentence(show_expected), most=5)
        lines += _wrap("Called with: ", self.called_with, most=1 if in_notebook else 2)
        if in_notebook and self.called_with:
            lines.append("(case = failing_case() hands you these arguments, exact and whole)")
        label = FAILS if self.found_by == "contrast" else LOOKS_LIKE
        lines += _wrap(label, self.looks_like, most=4)
        if remedy:
            lines += _wrap(TRY, self.advice, most=3)
        elif in_notebook and self.advice:
            lines.append("(hint(), in a new cell, says what to try)")
        return "\n".join(lines[:MAX_LINES])

    def html(self) -> str:
        """The green box of a passed check."""
        first, *rest = self.text().split("\n")
        below = f"<br><span>{html.escape(' '.join(rest))}</span>" if rest else ""
        style = "border-left:4px solid #1a7f37;padding:4px 10px;color:#1a7f37;background:#f0faf3"
        return f'<div style="{style}"><b>{html.escape(first)}</b>{below}</div>'


def _wrap(label: str, text: str, most: int = 4) -> list[str]:
    if not text:
        return []
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return textwrap.wrap(label + printable, WIDTH, max_lines=most, placeholder=" ...")
