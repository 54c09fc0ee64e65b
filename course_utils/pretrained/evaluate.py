"""The figures of a model card, computed again from the weights: ``python -m course_utils.pretrained evaluate pronounce``."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ..datasets.documentation import documentation_split
from ..datasets.pronunciations import split
from ..datasets.text_windows import encode_text
from ..datasets.written_twice import second_half_bits, twice
from ..decoding import Decoded, beam_search, greedy_decode
from ..files import write_whole
from ..metrics import text_scores
from ..models import DecoderLM, count_parameters
from . import shipped
from .pronunciation import error_rates

GROUPS = {
    "recurrent": ("recurrent_attention", "recurrent_no_attention"),
    "pronounce": ("transformer",),
    "documentation": ("language_model",),
    "induction": ("induction",),
}
WINDOW, STRIDE = 512, 256  # characters in a window of the language model; where it is judged, windows overlap
BEGIN, END = "<!-- figures: python -m course_utils.pretrained evaluate -->", "<!-- end of figures -->"


def beam_5(*arguments: Any, **options: Any) -> Decoded:
    """Beam search with 5 beams, in the form of ``greedy_decode``: the best sequence of each."""
    return beam_search(*arguments, beam_size=5, **options).best()


SEARCHES = {"greedy": greedy_decode, "beam 5": beam_5}


def figures(names: Sequence[str]) -> str:
    """A Markdown table of trained models of one kind: how they were trained, how good they are on what was held out.

    ``names`` are models in ``course_utils/pretrained/data``: all of pronunciation, or all of text.
    """
    rows = [row for name in names for row in _rows(name, shipped.load(name))]
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |".replace(" --- ", "---") for line in lines)


def _rows(name: str, model: nn.Module) -> list[dict[str, str]]:
    facts = shipped.training_of(name)
    made = {"model": f"`{name}`", "parameters": f"{count_parameters(model):,}"}
    made |= {fact: str(facts[fact]) for fact in ("epochs", "updates", "seed", "minutes") if fact in facts}
    if name in GROUPS["induction"]:
        strings = {length: twice(1000, length, torch.Generator().manual_seed(length)) for length in (10, 16, 20, 26)}
        return [made | {f"{length} letters": f"{second_half_bits(model, ids):.2f}" for length, ids in strings.items()}]
    if isinstance(model, DecoderLM):
        parts = documentation_split()._asdict().items()
        scores = {part: text_scores(model, encode_text(text), length=WINDOW, stride=STRIDE) for part, text in parts}
        return [made | {f"{part} {what}": f"{x:.3f}" for part, found in scores.items() for what, x in found.items()}]
    return [
        made
        | {"search": search}
        | {
            f"{part} {what}": f"{100 * rate:.2f} %"
            for part in ("valid", "test")
            for what, rate in error_rates(model, split(part), decode=decode).items()
        }
        for search, decode in SEARCHES.items()
    ]


def write_card(what: str, folder: Path = shipped.FOLDER) -> Path:
    """Put freshly computed figures into a card, and give its path; the text around them stays.

    Raises:
        ValueError: The card has no place for figures.
    """
    card, before, _, after = _card(what, folder)
    write_whole(card, f"{before}{BEGIN}\n{figures(GROUPS[what])}\n{END}{after}")
    return card


def _card(what: str, folder: Path) -> tuple[Path, str, str, str]:
    card = folder / f"{what}.md"
    text = card.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise ValueError(f"{card.name} has no place for figures; expected the lines {BEGIN!r} and {END!r}")
    before, rest = text.split(BEGIN, 1)
    inside, after = rest.split(END, 1)
    return card, before, inside.strip(), after


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute a card's figures again and compare: 0 if they agree, 1 if not."""
    parser = argparse.ArgumentParser(
        prog="python -m course_utils.pretrained evaluate", description=__doc__.splitlines()[0]
    )
    parser.add_argument("what", choices=sorted(GROUPS), help="which models")
    options = parser.parse_args(arguments)
    found = figures(GROUPS[options.what])
    card, _, claimed, _ = _card(options.what, shipped.FOLDER)
    print(found)
    print(f"{card.name} says the same" if found == claimed else f"{card.name} says something else:\n{claimed}")
    return 0 if found == claimed else 1
