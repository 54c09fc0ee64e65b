"""Ways to a ready-made of PyTorch or numpy where it is off limits: none earns anything that nobody is told to look at.

Each way is right where the exercise allows the ready-made (else it would show nothing).
"""

from pathlib import Path

import pytest
from handed_in import sections
from sandboxed import ANSWER, graded_alone, linux

pytestmark = linux
ANSWERS = {"softmax": ("2.1", "softmax = f"), "products": ("1.4", "all_pairs_einsum = lambda q, k: f(q, k.mT)")}
WAYS = sections(Path(__file__).with_name("ready_mades.txt"))


@pytest.mark.parametrize(("kind", "text"), WAYS)
def test_no_ready_made_earns_anything_unseen(kind, text):
    number, bound = ANSWERS[kind]
    *beside, answer = text.split("#--\n")
    cells = (*beside, ANSWER, f"{answer}\n{bound}")
    allowed = graded_alone(number, *cells, allowed=frozenset({number}))
    result = graded_alone(number, *cells)
    assert allowed["exercises"][0]["outcome"] == "right", allowed["exercises"][0]["message"]
    assert result["earned"] == 0 or result["review"]


HIDDEN = [
    (*header.split(" ", 1), text) for header, text in sections(Path(__file__).with_name("hidden_ready_mades.txt"))
]


@pytest.mark.parametrize(("number", "way", "text"), HIDDEN, ids=[way for _, way, _ in HIDDEN])
def test_whoever_has_read_the_grader_earns_nothing_unseen(number, way, text):
    """Each of these earned points without a flag, before the second run reported what Python reports."""
    cells = []
    for cell in text.split("#--\n"):
        cells += [ANSWER, cell.removeprefix("#ANSWER\n")] if cell.startswith("#ANSWER\n") else [cell]
    result = graded_alone(number, *cells)
    assert result["earned"] == 0 or result["review"]
