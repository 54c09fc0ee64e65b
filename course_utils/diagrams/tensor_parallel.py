"""Multi-head attention divided by heads: what each rank has, and the one sum at the end."""

from matplotlib.axes import Axes

from ..arguments import require_divides, require_sizes
from .drawing import Drawing
from .palette import COLORS, LABEL, NUMBER, SHAPE, SOFT

MOST = 4  # ranks
ROW, TALL, GAP = 0.95, 0.62, 0.36  # inches: from one rank to the next, a box, and from box to box


def tensor_parallel(num_heads: int, P: int) -> Axes:
    """A row for each rank: the same ``x``, its part of the projections, its heads, its rows of ``W_o``; then the sum.

    Args:
        num_heads: Heads of the whole layer.
        P: How many ranks, at most 4; divides ``num_heads``.

    Source:
        Shoeybi et al., "Megatron-LM", 2019, figure 3b.
    """
    require_sizes(num_heads=num_heads, P=P)
    require_divides("P", P, "num_heads", num_heads)
    if P > MOST:
        raise ValueError(f"P ({P}) must be at most {MOST}: more rows cannot be read")
    draw, each = Drawing(), num_heads // P
    boxes = {"x": (0.75, "plain"), "Wq Wk Wv": (1.0, "key"), "attention": (1.25, "weights"), "Wo": (0.75, "value"),
             "part": (0.6, "output")}  # fmt: skip
    right = sum(wide for wide, _ in boxes.values()) + GAP * (len(boxes) - 1)
    middle = -(P - 1) * ROW / 2
    for rank in range(P):
        y, x = -rank * ROW, 0.0
        heads = ", ".join(str(head) for head in range(rank * each, (rank + 1) * each))
        heads = (
            f"head{'s' if each > 1 else ''} {heads}" if each <= 4 else f"heads {rank * each} to {(rank + 1) * each - 1}"
        )
        below = {"x": "all tokens", "Wq Wk Wv": "its columns", "attention": heads, "Wo": "its rows", "part": ""}
        draw.frame(-0.12, y - TALL / 2 - 0.1, right + 0.24, TALL + 0.2)
        draw.text(-0.25, y, f"rank {rank}", LABEL, SOFT, ha="right", weight="bold")
        for name, (wide, role) in boxes.items():
            draw.box(x, y - TALL / 2, wide, TALL, "", role)
            draw.text(x + wide / 2, y + (0.1 if below[name] else 0.0), name, LABEL, COLORS[role], weight="bold")
            draw.text(x + wide / 2, y - 0.14, below[name], NUMBER, SOFT)
            if name != "part":
                draw.arrow((x + wide + 0.02, y), (x + wide + GAP - 0.02, y))
            x += wide + GAP
        draw.arrow((right + 0.04, y), (right + 0.8, middle + (0.05 if y > middle else -0.05 if y < middle else 0.0)))
    draw.plus(right + 0.93, middle)
    draw.text(right + 1.05, middle + 0.1, "all_reduce", SHAPE, SOFT, ha="left", va="bottom")
    draw.arrow((right + 1.07, middle), (right + 1.4, middle))
    draw.text(right + 1.45, middle - 0.04, "plus bₒ, once: the\noutput on every rank", SHAPE, ha="left", va="top")
    return draw.finish(
        f"{P} ranks, each with the same x of all tokens. A rank has {each} of {num_heads} heads: their columns of the three "
        "projections and their rows of the output projection. What comes out is a part, and one all_reduce adds the parts up "
        "on every rank."
    )
