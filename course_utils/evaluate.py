"""The figures of a model card, computed again from the weights: ``python -m course_utils.evaluate recurrent``."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from . import pretrained
from .datasets.pronunciations import split
from .pronounce import error_rates

GROUPS = {"recurrent": ("recurrent_attention", "recurrent_no_attention")}
BEGIN, END = "<!-- figures: python -m course_utils.evaluate -->", "<!-- end of figures -->"


def figures(names: Sequence[str]) -> str:
    """A Markdown table of the trained models: how they were trained, how often they are right on held-out words.

    Args:
        names: Models of pronunciation in ``course_utils/pretrained``.
    """
    rows = ["| model | parameters | epochs | seed | minutes | valid WER | valid PER | test WER | test PER |"]
    rows.append("|---|---|---|---|---|---|---|---|---|")
    for name in names:
        model, facts = pretrained.load(name), pretrained.training_of(name)
        rates = [rate for part in ("valid", "test") for rate in error_rates(model, split(part)).values()]
        size = sum(parameter.numel() for parameter in model.parameters())
        how = (f"`{name}`", f"{size:,}", facts["epochs"], facts["seed"], facts["minutes"])
        rows.append("| " + " | ".join([*map(str, how), *(f"{100 * rate:.2f} %" for rate in rates)]) + " |")
    return "\n".join(rows)


def write_card(what: str, folder: Path = pretrained.FOLDER) -> Path:
    """Put freshly computed figures into a card; the text around them stays.

    Returns:
        The card.

    Raises:
        ValueError: The card has no place for figures.
    """
    card, before, _, after = _card(what, folder)
    unfinished = card.with_suffix(f".{os.getpid()}.part")
    unfinished.write_text(f"{before}{BEGIN}\n{figures(GROUPS[what])}\n{END}{after}", encoding="utf-8")
    os.replace(unfinished, card)
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
    parser = argparse.ArgumentParser(prog="python -m course_utils.evaluate", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=sorted(GROUPS), help="which models")
    options = parser.parse_args(arguments)
    found = figures(GROUPS[options.what])
    card, _, claimed, _ = _card(options.what, pretrained.FOLDER)
    print(found)
    print(f"{card.name} says the same" if found == claimed else f"{card.name} says something else:\n{claimed}")
    return 0 if found == claimed else 1


if __name__ == "__main__":
    sys.exit(main())
