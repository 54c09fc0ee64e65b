"""A softmax block by block: what each block adds, and how the old sums shrink."""

import math

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from .formatting import number
from .grids import GridDrawing
from .palette import CELL, COLORS, LABEL, SHAPE, SOFT

KEPT = 0.52  # the cells of what is kept, in inches
STEPS = ("before", "shrink", "add")


def running_softmax(scores: Float[Tensor, " L_k"], values: Float[Tensor, " L_k"], block: int) -> Axes:
    """One query's attention in blocks of keys: what each block adds, and by what the old sums shrink.

    Each row has one scale of shades from the first block to the last, so that equal shades are equal numbers.

    Args:
        scores: Scaled already.
        values: Single numbers.
        block: How many keys a block has.
    """
    if scores.shape != values.shape or scores.dim() != 1:
        raise ValueError(
            f"scores {tuple(scores.shape)} and values {tuple(values.shape)} must be two rows of equal length"
        )
    if not 1 <= block <= len(scores):
        raise ValueError(f"block ({block}) must be at least 1 and at most the number of keys, {len(scores)}")
    steps = _steps(scores.double(), values.double(), block)
    draw, x = GridDrawing(), 0.0
    total, output = (sum(steps[-1][name][1:]) for name in ("s", "o"))
    limits = {"s": _limit(steps, "s", total), "o": _limit(steps, "o", output)}
    wide = max(len(STEPS) * KEPT, block * CELL)
    for place, step in enumerate(steps):
        rows = (("scores", step["scores"], scores, "scores"), ("e^(score − m)", step["powers"], None, "weights"),
                ("values", step["values"], values, "value"))  # fmt: skip
        for row, (name, part, whole, role) in enumerate(rows):
            y, limit = -0.5 * row, 1.0 if whole is None else float(whole.abs().max())
            start = x + (wide - CELL * len(part)) / 2
            draw.grid(part[None], start, y, role, limit=limit, shades=whole is None)
            draw.text(-0.15, y + CELL / 2, name if place == 0 else "", LABEL, COLORS[role], ha="right")
        draw.text(x + wide / 2, CELL + 0.22, f"block {place + 1}", LABEL, weight="bold")
        draw.text(x + wide / 2, -1.32, f"m = {step['m']:.3g}", LABEL, COLORS["cache"], weight="bold")
        names = (STEPS[0], f"{STEPS[1]}\n× {number(step['shrink'])}" if place else STEPS[1], STEPS[2])
        for column, name in enumerate(names):
            middle = x + (wide - len(STEPS) * KEPT) / 2 + (column + 0.5) * KEPT
            draw.text(middle, -1.88, name, SHAPE, SOFT, va="bottom")
        for name, y in (("s", -2.45), ("o", -3.05)):
            line = scores.new_tensor(step[name])[None]
            draw.grid(line, x + (wide - len(STEPS) * KEPT) / 2, y, "cache", limit=limits[name], cell=KEPT)
            draw.text(-0.15, y + KEPT / 2, f"kept: {name}" if place == 0 else "", LABEL, COLORS["cache"], ha="right")
        x += wide + 0.5
        draw.arrow((x - 0.45, -2.49), (x - 0.05, -2.49))
    for name, value, y in (("s", total, -2.45), ("o", output, -3.05)):
        draw.grid(scores.new_tensor([[value]]), x, y, "cache", limit=limits[name], cell=KEPT)
    draw.text(x + KEPT / 2, -1.88, "at the end", SHAPE, SOFT, va="bottom")
    draw.text(x + KEPT + 0.2, -2.49, f"o / s = {number(output / total)}", LABEL, ha="left", weight="bold")
    told = (f"after block {i + 1}: m = {step['m']:.3g}, s = {sum(step['s'][1:]):.3g}, o = {sum(step['o'][1:]):.3g}"
            for i, step in enumerate(steps))  # fmt: skip
    return draw.finish(
        f"A softmax over {len(scores)} keys in blocks of {block}; in each block the old sums shrink, and the block's own are "
        f"added. {'; '.join(told)}. The output is o / s = {number(output / total)}."
    )


def _limit(steps: list[dict], name: str, last: float) -> float:
    """The size that has the darkest shade in a row of sums."""
    return max(abs(value) for step in steps for value in (*step[name], last))


def _steps(scores: Tensor, values: Tensor, block: int) -> list[dict]:
    """Of each block its parts, the maximum, the factor, and of both sums: before, shrunk, what is added."""
    steps, highest, total, output = [], -math.inf, 0.0, 0.0
    for part, worth in zip(scores.split(block), values.split(block), strict=True):
        old, highest = highest, max(highest, float(part.max()))
        shrink, powers = math.exp(old - highest), (part - highest).exp()
        added = float(powers.sum()), float(powers @ worth)
        steps.append({
            "scores": part, "powers": powers, "values": worth, "m": highest, "shrink": shrink,
            "s": (total, total * shrink, added[0]), "o": (output, output * shrink, added[1]),
        })  # fmt: skip
        total, output = total * shrink + added[0], output * shrink + added[1]
    return steps
