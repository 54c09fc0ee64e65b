"""Multi-head attention divided by heads: what each rank has of the matrices, and the two sums between ranks."""

from matplotlib.axes import Axes

from .. import plotting
from ..arguments import require_divides, require_sizes
from .drawing import Drawing
from .palette import COLORS, LABEL, NUMBER, SHAPE, SOFT

MOST = 4  # heads, and ranks
ROW, TALL, GAP = 1.05, 0.72, 0.3  # inches: from one rank to the next, a matrix or a box, and from one to the next
STRIPE, WIDE, APART = 0.22, 0.5, 0.12  # inches: a head's columns, a head's rows, and between two matrices
SUM = 0.34  # inches: how wide an all_reduce is drawn


def tensor_parallel(num_heads: int, num_kv_heads: int, P: int) -> Axes:
    """A row for each rank: the same ``x``, its columns of the projections, its heads, its rows of ``W_o``, where ranks add up.

    Args:
        num_heads: Query heads of the whole layer, at most 4.
        num_kv_heads: Its key/value heads.
        P: How many ranks, at least 2; divides both.

    Source:
        Shoeybi et al., "Megatron-LM", 2019, figure 3b.
    """
    require_sizes(num_heads=num_heads, num_kv_heads=num_kv_heads, P=P)
    require_divides("num_kv_heads", num_kv_heads, "num_heads", num_heads)
    require_divides("P", P, "num_kv_heads", num_kv_heads)
    if num_heads > MOST or P < 2:
        raise ValueError(
            f"num_heads ({num_heads}) must be at most {MOST} and P ({P}) at least 2, or nothing is divided"
        )
    draw = Drawing()
    query_part, shared_part = num_heads * STRIPE, num_kv_heads * STRIPE
    query = 0.75 + GAP
    key = query + query_part + APART
    value = key + shared_part + APART
    for rank in range(P):
        middle = -rank * ROW
        _box(draw, 0.0, middle, "x", "plain", "all tokens", 0.75)
        _matrix(draw, query, middle, num_heads, rank, P, STRIPE, TALL)
        for left in (key, value):
            _matrix(draw, left, middle, num_kv_heads, rank, P, STRIPE, TALL)
        x = _arrow(draw, value + shared_part, middle)
        output = _box(draw, x, middle, "attention", "weights", "of its heads", 1.0)
        _matrix(draw, output, middle, num_heads, rank, P, WIDE, TALL / num_heads)
        x = _arrow(draw, output + WIDE, middle)
        bar = _box(draw, x, middle, "part", "output", "", 0.6)
        x = _arrow(draw, bar + SUM, middle)
        draw.box(x, middle - TALL / 2, 0.75, TALL, "", "output", fill=0.3)
        draw.text(x + 0.375, middle + 0.1, "output", LABEL, COLORS["output"], weight="bold")
        draw.text(x + 0.375, middle - 0.14, "+ bₒ", NUMBER, SOFT)
        draw.text(-0.15, middle, f"rank {rank}", LABEL, plotting.COLORS[rank], ha="right", weight="bold")
    top, bottom = TALL / 2, -(P - 1) * ROW - TALL / 2
    draw.box(bar, bottom, SUM, top - bottom, "", "cache", fill=0.3)
    draw.text(bar + SUM / 2, (top + bottom) / 2, "all_reduce", SHAPE, COLORS["cache"], rotation=90)
    draw.text(bar + SUM / 2, top + 0.08, "forward", LABEL, COLORS["cache"], va="bottom")
    back = bottom - 0.4  # middle of the line of the backward pass
    left, right = query + 0.15, query + 1.2
    draw.box(left, back - SUM / 2, right - left, SUM, "", "cache", fill=0.12, dashed=True)
    draw.text((left + right) / 2, back, "all_reduce", SHAPE, COLORS["cache"])
    draw.text(0.0, back, "gradient of x", NUMBER, SOFT, ha="left")
    draw.arrow((left - 0.02, back), (0.88, back), style="--")
    draw.arrow((bar + SUM, back), (right + 0.02, back), style="--")
    words = "backward: each rank's share of the gradient"
    draw.text((right + bar + SUM) / 2, back - 0.05, words, NUMBER, SOFT, va="top")
    widths = ((query, query_part, "Wq"), (key, shared_part, "Wk"), (value, shared_part, "Wv"), (output, WIDE, "Wo"))
    for left, wide, name in widths:
        draw.text(left + wide / 2, top + 0.08, name, LABEL, va="bottom", weight="bold")
    return draw.finish(
        f"{P} ranks, each with the same x of all tokens. A rank has {num_heads // P} of {num_heads} query heads and "
        f"{num_kv_heads // P} of {num_kv_heads} key/value heads: their columns of the three projections and the query heads' "
        "rows of the output projection, in its color. What comes out is a part, and one all_reduce adds the parts up on every "
        "rank. Going backward, a second one adds up the ranks' shares of the gradient of x."
    )


def _box(draw: Drawing, x: float, middle: float, name: str, role: str, below: str, wide: float) -> float:
    """A box, an arrow behind it; where the next one begins."""
    draw.box(x, middle - TALL / 2, wide, TALL, "", role)
    draw.text(x + wide / 2, middle + (0.1 if below else 0.0), name, LABEL, COLORS[role], weight="bold")
    draw.text(x + wide / 2, middle - 0.14, below, NUMBER, SOFT)
    return _arrow(draw, x + wide, middle)


def _arrow(draw: Drawing, x: float, middle: float) -> float:
    """From ``x`` to where the next one begins."""
    draw.arrow((x + 0.02, middle), (x + GAP - 0.02, middle))
    return x + GAP


def _matrix(
    draw: Drawing, x: float, middle: float, num_heads: int, rank: int, P: int, wide: float, high: float
) -> None:
    """A stripe for each head, colored where the rank has it; beside one another if they are as high as the row."""
    for head in range(num_heads):
        left = x + head * wide if high == TALL else x
        bottom = middle - TALL / 2 if high == TALL else middle + TALL / 2 - (head + 1) * high
        color = plotting.COLORS[rank] if head * P // num_heads == rank else "#E4E4E4"
        draw.cell(left, bottom, wide, high, head, color)
