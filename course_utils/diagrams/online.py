"""A softmax that never holds all its scores: block by block, with a running maximum, sum and output."""

import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from .cards import Table
from .palette import CELL, LABEL, ROLES, SOFT
from .words import number

GAP = 1.55


def running_softmax(scores: Float[Tensor, " L_k"], values: Float[Tensor, " L_k"], block: int) -> Axes:
    """One query's attention in blocks of keys: what each block adds, and by what the old sums shrink.

    ``scores`` are scaled already; ``values`` are single numbers; ``block`` is how many keys a block has.
    """
    if scores.shape != values.shape or scores.dim() != 1:
        raise ValueError(
            f"scores {tuple(scores.shape)} and values {tuple(values.shape)} must be two rows of equal length"
        )
    if not 1 <= block <= len(scores):
        raise ValueError(f"block ({block}) must be at least 1 and at most the number of keys, {len(scores)}")
    sheet, x, said = Table(), 0.0, []
    highest, total, output = float("-inf"), 0.0, 0.0
    for place, (part, worth) in enumerate(zip(scores.double().split(block), values.double().split(block), strict=True)):
        old, highest = highest, max(highest, float(part.max()))
        shrink = 0.0 if old == float("-inf") else float(torch.tensor(old - highest).exp())
        powers = (part - highest).exp()
        total, output = total * shrink + float(powers.sum()), output * shrink + float(powers @ worth)
        rows = (("scores", part, "scores"), ("e^(score − m)", powers, "weights"), ("values", worth, "value"))
        for row, (name, numbers, role) in enumerate(rows):
            card = sheet.card(numbers[None], x, -0.5 * row, role)
            if place == 0:
                sheet.text(-0.15, -0.5 * row + CELL / 2, name, LABEL, ROLES[role], ha="right")
                left = min(0.0, card.width / 2 - 1.15 / 2) - 0.15
        middle = x + card.width / 2
        sheet.text(middle, CELL + 0.22, f"block {place + 1}", LABEL, weight="bold")
        kept = (("m", highest), ("s", total), ("o", output))
        wide = max(card.width, 1.15)
        for row, (name, value) in enumerate(kept):
            sheet.box(middle - wide / 2, -1.65 - 0.42 * row, wide, 0.36, f"{name} = {value:.3g}", "cache", fill=0.12)
        if place:
            across = -1.65 - 0.42 + 0.18
            sheet.arrow((before, across), (middle - wide / 2 - 0.05, across))
            sheet.text(
                (before + middle - wide / 2) / 2, across + 0.09, f"old s, o\n× {number(shrink)}", LABEL, va="bottom"
            )
        before, x = middle + wide / 2 + 0.05, x + card.width + GAP
        said.append(f"after block {place + 1}: m = {highest:.3g}, s = {total:.3g}, o = {output:.3g}")
    sheet.text(left, -1.65 - 0.24, "kept", LABEL, ROLES["cache"], ha="right")
    sheet.arrow((before, -1.89), (before + 0.6, -1.89))
    sheet.text(before + 0.7, -1.89, f"o / s = {number(output / total)}", LABEL, ha="left", weight="bold")
    sheet.text(before + 0.7, -2.15, "the output", LABEL, SOFT, ha="left")
    return sheet.done(
        f"A softmax over {len(scores)} keys in blocks of {block}. {'; '.join(said)}. The output is o / s = "
        f"{number(output / total)}."
    )
