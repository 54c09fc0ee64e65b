"""Answers that are the same but for blanks and comments. A hint for a person, no proof of anything."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..released_notebook import ReleasedNotebook

SHORTEST = 120  # characters of one's own; a shorter answer can be the same by chance
# A string that does not end ends with its line, or with the text: whatever is there, nothing is read twice.
TOKEN = re.compile(
    r'''("""(?:\\.|[^\\])*?(?:"""|\\?\Z)|'{3}(?:\\.|[^\\])*?(?:'{3}|\\?\Z)'''
    r"""|"(?:\\.|[^"\\\n])*(?:"|\\?(?=\n|\Z))|'(?:\\.|[^'\\\n])*(?:'|\\?(?=\n|\Z)))|\#[^\n]*""",
    re.DOTALL,
)


@dataclass(frozen=True)
class Same:
    """One answer that several students handed in."""

    number: str  # the exercise
    students: tuple[str, ...]  # who
    code: str  # what the first of them wrote


class SameAnswers:
    """Collects answers, and says which are the same.

    Args:
        releases: What was handed out; lines of it are nobody's own.
        solutions: The course's own answers by exercise; who wrote the same is left out.
    """

    def __init__(self, releases: Iterable[ReleasedNotebook] = (), solutions: Mapping[str, str] | None = None) -> None:
        self._released = {
            number: set(_lines(code)) for released in releases for number, code in answers(released).items()
        }
        self._solutions = {number: self._own(number, code) for number, code in (solutions or {}).items()}
        self._answers: dict[tuple[str, str], tuple[str, list[str]]] = {}

    def add(self, number: str, student: str, code: str) -> None:
        """One answer of one student."""
        own = self._own(number, code)
        if len(own) < SHORTEST or own == self._solutions.get(number):
            return
        digest = hashlib.sha256(own.encode("utf-8", "surrogatepass")).hexdigest()
        self._answers.setdefault((number, digest), (code, []))[1].append(student)

    def groups(self) -> list[Same]:
        """Those of two students and more, the largest first."""
        collected = self._answers.items()
        groups = [Same(number, tuple(who), code) for (number, _), (code, who) in collected if len(set(who)) > 1]
        return sorted(groups, key=lambda same: (-len(same.students), same.number))

    def _own(self, number: str, code: str) -> str:
        released = self._released.get(number, set())
        return "".join(line for line in _lines(code) if line not in released)


def answers(released: ReleasedNotebook) -> dict[str, str]:
    """What stands in the answer cells of a notebook, by exercise."""
    texts: dict[str, list[str]] = {}
    for cell in released.cells:
        if cell.role == "answer":
            texts.setdefault(cell.number, []).append(cell.text)
    return {number: "\n".join(parts) for number, parts in texts.items()}


def _lines(code: str) -> list[str]:
    """Without comments and blanks. It need not be Python."""
    plain = TOKEN.sub(lambda token: token[1] or "", code)
    return [line for line in ("".join(line.split()) for line in plain.split("\n")) if line]
