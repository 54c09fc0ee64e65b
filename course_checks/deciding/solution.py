"""The worked solution of an exercise as the build carries it from the source, and what its edits make of it.

``solutions.json`` lies in this folder, which no student's kernel holds.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("solutions.json")
# What an edit may use, whatever the exercise's own notebook imports.
PRELUDE = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


@functools.cache
def _carried() -> dict[str, dict[str, Any]]:
    return json.loads(FILE.read_text(encoding="utf-8"))


def carried(number: str) -> dict[str, Any]:
    """What the build carried for one exercise: of a quiz ``right`` and ``explanations``, of a coding exercise
    ``before``, ``text`` and ``mistakes``."""
    return _carried()[number]


@dataclass(frozen=True)
class Solution:
    """The worked solution of one exercise.

    Args:
        name: What it is called in the notebook.
        before: Imports, and given code and answers of the same notebook, that it needs.
        text: Its own cell.
        mistakes: The table of known mistakes that stands below it: ``looks_like``, ``advice`` and ``edits`` of each.
    """

    name: str
    before: str
    text: str
    mistakes: tuple | list = ()

    @classmethod
    def of(cls, number: str, name: str) -> Solution:
        """The solution of one exercise."""
        return cls(name, **carried(number))

    def answer(self, text: str | None = None) -> Callable:
        """The function or class that this text makes; the solution's own where none is given.

        Raises:
            SyntaxError: The text is not Python.
        """
        space: dict[str, Any] = {"__name__": __name__}  # as of the checks' own: handed in as an answer, it is refused
        exec(compile(f"{PRELUDE}{self.before}\n{self.text if text is None else text}", "<solution>", "exec"), space)
        return space[self.name]


def edited(text: str, edits: dict[str, str]) -> str | None:
    """The text with every ``old`` replaced by its ``new``, in order; None where an ``old`` does not stand in it."""
    for old, new in edits.items():
        if old not in text:
            return None
        text = text.replace(old, new)
    return text
