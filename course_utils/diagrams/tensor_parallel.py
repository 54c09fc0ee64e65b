"""Multi-head attention divided by heads: what each rank has of the matrices, and the one sum at the end."""

from matplotlib.axes import Axes

from .. import plotting
from ..arguments import require_divides, require_sizes
from .drawing import Drawing
from .palette import COLORS, LABEL, NUMBER, SHAPE, SOFT

MOST = 4  # heads, and ranks
ROW, TALL, GAP = 1.05, 0.72, 0.36  # inches: from one rank to the next, a matrix or a box, and from one to the next
STRIPE, WIDE = 0.24, 0.6  # inches: a head's columns, and a head's rows


def tensor_parallel(num_heads: int, P: int) -> Axes:
    """A row for each rank: the same ``x``, its columns of the projections, its heads, its rows of ``W_o``, its part of the sum.

    Args:
        num_heads: Heads of the whole layer, at most 4.
        P: How many ranks; divides ``num_heads``.

    Source:
        Shoeybi et al., "Megatron-LM", 2019, figure 3b.
    """
    require_sizes(num_heads=num_heads, P=P)
    require_divides("P", P, "num_heads", num_heads)
    if num_heads > MOST:
        raise ValueError(f"num_heads ({num_heads}) must be at most {MOST}: more cannot be read")
    draw, each = Drawing(), num_heads // P
    for rank in range(P):
        middle, own = -rank * ROW, range(rank * each, (rank + 1) * each)
        x = _box(draw, 0.0, middle, "x", "plain", "all tokens", 0.75)
        x = _matrix(draw, x, middle, num_heads, own, rank, by_columns=True)
        x = _box(draw, x, middle, "attention", "weights", "of its heads", 1.0)
        x = _matrix(draw, x, middle, num_heads, own, rank, by_columns=False)
        bar = _box(draw, x, middle, "part", "output", "", 0.6)
        draw.arrow((bar + 0.34, middle), (bar + 0.66, middle))
        draw.box(bar + 0.7, middle - TALL / 2, 0.75, TALL, "output", "output", fill=0.3)
        draw.text(-0.15, middle, f"rank {rank}", LABEL, plotting.COLORS[rank], ha="right", weight="bold")
    top, bottom = TALL / 2, -(P - 1) * ROW - TALL / 2
    draw.box(bar, bottom, 0.34, top - bottom, "", "cache", fill=0.3)
    draw.text(bar + 0.17, (top + bottom) / 2, "all_reduce", SHAPE, COLORS["cache"], rotation=90)
    draw.text(bar + 1.07, bottom - 0.08, "+ bₒ, once", NUMBER, SOFT, va="top")
    for place, name in ((0.75 + GAP + num_heads * STRIPE / 2, "Wq Wk Wv"), (_second(num_heads), "Wo")):
        draw.text(place, top + 0.08, name, LABEL, va="bottom", weight="bold")
    heads = f"{each} of {num_heads} heads"
    return draw.finish(
        f"{P} ranks, each with the same x of all tokens. A rank has {heads}: their columns of the three projections and their "
        "rows of the output projection, in its color. What comes out is a part, and one all_reduce adds the parts up on every "
        "rank."
    )


def _second(num_heads: int) -> float:
    """The middle of the output projection."""
    return 0.75 + GAP + num_heads * STRIPE + GAP + 1.0 + GAP + WIDE / 2


def _box(draw: Drawing, x: float, middle: float, name: str, role: str, below: str, wide: float) -> float:
    """A box, an arrow behind it; where the next one begins."""
    draw.box(x, middle - TALL / 2, wide, TALL, "", role)
    draw.text(x + wide / 2, middle + (0.1 if below else 0.0), name, LABEL, COLORS[role], weight="bold")
    draw.text(x + wide / 2, middle - 0.14, below, NUMBER, SOFT)
    draw.arrow((x + wide + 0.02, middle), (x + wide + GAP - 0.02, middle))
    return x + wide + GAP


def _matrix(
    draw: Drawing, x: float, middle: float, num_heads: int, own: range, rank: int, *, by_columns: bool
) -> float:
    """A stripe for each head, colored where the rank has it; where the next one begins."""
    wide, high = (STRIPE, TALL) if by_columns else (WIDE, TALL / num_heads)
    for head in range(num_heads):
        left = x + head * STRIPE if by_columns else x
        bottom = middle - TALL / 2 if by_columns else middle + TALL / 2 - (head + 1) * high
        draw.cell(left, bottom, wide, high, head, plotting.COLORS[rank] if head in own else "#E4E4E4")
    right = x + (num_heads * STRIPE if by_columns else WIDE)
    draw.arrow((right + 0.02, middle), (right + GAP - 0.02, middle))
    return right + GAP
