"""What each rank holds of an attention: some heads of all tokens, or some tokens of all heads."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from .. import plotting
from ..arguments import require_divides
from .drawing import Drawing
from .formatting import checked_labels, shortened
from .palette import CELL, LABEL, NAME, NUMBER, SOFT

MAX_TOKENS, MAX_HEADS, MAX_RANKS = 16, 8, len(plotting.COLORS)


def divided(tokens: Sequence[str], num_heads: int, P: int) -> Axes:
    """Two tables of tokens and heads, divided by heads and by tokens; a cell has the color and the number of its rank.

    Args:
        tokens: At most 16.
        num_heads: At most 8.
        P: How many ranks; divides both.
    """
    length = len(tokens)
    if not (1 <= length <= MAX_TOKENS and 1 <= num_heads <= MAX_HEADS and 1 <= P <= MAX_RANKS):
        raise ValueError(
            f"tokens ({length}), num_heads ({num_heads}) and P ({P}) must be at least 1 and at most "
            f"{MAX_TOKENS}, {MAX_HEADS} and {MAX_RANKS}"
        )
    require_divides("P", P, "num_heads", num_heads)
    require_divides("P", P, "len(tokens)", length)
    words = [shortened(word, 8) for word in checked_labels(tokens, length, "tokens")]
    draw, x = Drawing(), 0.0
    wide = max(num_heads * CELL, 1.6)
    for title in ("by heads", "by tokens"):
        for row, word in enumerate(words):
            draw.text(x - 0.08, -(row + 0.5) * CELL, word, LABEL, ha="right")
            for head in range(num_heads):
                rank = head * P // num_heads if title == "by heads" else row * P // length
                place = (x + head * CELL, -(row + 1) * CELL)
                draw.cell(*place, CELL, CELL, rank, plotting.COLORS[rank])
        for head in range(num_heads):
            draw.text(x + (head + 0.5) * CELL, 0.05, str(head), NUMBER, SOFT, va="bottom")
        draw.text(x - 0.08, 0.05, "head", NUMBER, SOFT, ha="right", va="bottom")
        draw.text(x, 0.32, title, NAME, ha="left", va="bottom", weight="bold")
        x += wide + 0.6 + max(map(draw.width_of, words))
    held = f"each rank has {num_heads // P} of {num_heads} heads of all tokens"
    other = f"each rank has {length // P} of {length} tokens, with all heads"
    return draw.finish(f"Two tables of {length} tokens and {num_heads} heads. By heads, {held}; by tokens, {other}.")
