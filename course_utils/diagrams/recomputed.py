"""The backward pass of attention in blocks: one block of weights made again, what it needs and what it adds to."""

from matplotlib.axes import Axes

from ..arguments import require_sizes
from .drawing import Drawing
from .palette import COLORS, LABEL, NUMBER, SHAPE, SOFT

BLOCK, WIDE, GAP = 0.56, 0.62, 0.42  # inches: a block of weights, a box beside the table, and between table and boxes
MOST = 6  # blocks in a row


def recomputed_block(blocks: int = 4, row: int = 2, column: int = 1) -> Axes:
    """A causal table of weights that never exists as a whole: made are the blocks before this one, and dropped.

    Args:
        blocks: In a row of the table, at most 6.
        row: Of the block that is made now, from 0.
        column: The same; at most ``row``.

    Source:
        Dao et al., "FlashAttention", 2022, algorithm 4.
    """
    require_sizes(blocks=blocks)
    if blocks > MOST or not 0 <= column <= row < blocks:
        raise ValueError(
            f"row ({row}) and column ({column}) must be from 0 to {blocks - 1}, column at most row, and blocks ({blocks}) at "
            f"most {MOST}"
        )
    draw, side = Drawing(), blocks * BLOCK
    for i in range(blocks):
        y = side - (i + 1) * BLOCK
        for j in range(blocks):
            _block(draw, j * BLOCK, y, BLOCK, _kind((i, j), (row, column)))
        here = 0.55 if i == row else 0.08
        draw.box(-GAP - 3 * WIDE, y + 0.08, WIDE, BLOCK - 0.16, f"Q{i}", "query", fill=here)
        draw.box(-GAP - 2 * WIDE, y + 0.08, WIDE, BLOCK - 0.16, f"dO{i}", "output", fill=here)
        draw.box(-GAP - WIDE, y + 0.08, WIDE, BLOCK - 0.16, "ℓ, mean", "cache", fill=here, size=NUMBER)
        draw.box(side + GAP, y + 0.08, WIDE, BLOCK - 0.16, f"dQ{i}", "query", fill=here)
    for j in range(blocks):
        x, here = j * BLOCK, 0.55 if j == column else 0.08
        draw.box(x, side + GAP, BLOCK, 0.36, f"K{j}", "key", fill=here)
        draw.box(x, side + GAP + 0.38, BLOCK, 0.36, f"V{j}", "value", fill=here)
        draw.box(x, -GAP - 0.36, BLOCK, 0.36, f"dK{j}", "key", fill=here)
        draw.box(x, -GAP - 0.74, BLOCK, 0.36, f"dV{j}", "value", fill=here)
    middle = ((column + 0.5) * BLOCK, side - (row + 0.5) * BLOCK)
    draw.arrow((-GAP + 0.02, middle[1]), (-0.02, middle[1]), color=COLORS["plain"])
    draw.arrow((middle[0], side + GAP - 0.02), (middle[0], side + 0.02), color=COLORS["plain"])
    draw.arrow((side + 0.02, middle[1]), (side + GAP - 0.02, middle[1]), color=COLORS["plain"])
    draw.arrow((middle[0], -0.02), (middle[0], -GAP + 0.02), color=COLORS["plain"])
    draw.text(-GAP - 1.5 * WIDE, side + 0.12, "needs", SHAPE, SOFT, va="bottom")
    draw.text(-0.1, side + GAP + 0.37, "needs", SHAPE, SOFT, ha="right")
    draw.text(side + GAP + WIDE / 2, side + 0.12, "adds to", SHAPE, SOFT, va="bottom")
    draw.text(-0.1, -GAP - 0.37, "adds to", SHAPE, SOFT, ha="right")
    _explain(draw, side + GAP + WIDE + 0.45, side)
    return draw.finish(
        f"A causal table of {blocks} by {blocks} blocks. The block in row {row} and column {column} is made again from queries "
        f"{row}, the gradients of their outputs, their two numbers, and keys and values {column}. It adds to the gradients of "
        f"queries {row}, keys {column} and values {column}. Blocks before it are dropped, later ones not made yet, those above "
        "the diagonal skipped."
    )


def _kind(at: tuple[int, int], now: tuple[int, int]) -> str:
    if at[1] > at[0]:
        return "skipped"
    return "now" if at == now else "dropped" if at < now else "to come"


def _block(draw: Drawing, x: float, y: float, side: float, kind: str) -> None:
    if kind == "skipped":
        draw.square(x, y, side, False, "mask")
    elif kind == "now":
        draw.box(x, y, side, side, "", "weights", fill=0.75)
    else:
        draw.box(x, y, side, side, "", "mask", fill=0.0, dashed=True)
        if kind == "dropped":
            low, high = 0.3 * side, 0.7 * side
            for start, end in (((low, low), (high, high)), ((low, high), (high, low))):
                draw.line([(x + start[0], y + start[1]), (x + end[0], y + end[1])], SOFT, 1.2, zorder=6)


def _explain(draw: Drawing, x: float, top: float) -> None:
    words = {
        "now": "made now",
        "dropped": "made before, and dropped",
        "to come": "still to come",
        "skipped": "hidden: skipped",
    }
    for place, (kind, text) in enumerate(words.items()):
        y = top - 0.42 - 0.48 * place
        _block(draw, x, y, 0.32, kind)
        draw.text(x + 0.42, y + 0.16, text, LABEL, ha="left")
