"""What several heads look at, side by side."""

from collections.abc import Sequence

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from .drawing import Sheet
from .operations import HEADS
from .palette import LABEL, NAME, NUMBER, PAGE, SOFT
from .words import labels, short

LINE, SPAN, MOST_TOKENS, MOST_HEADS = 0.22, 1.1, 20, 8  # inches a token, inches from queries to keys
THIN = 0.06  # a weight below it draws no line


def attention_lines(
    weights: Float[Tensor, "H L_q L_k"],
    queries: Sequence[str],
    keys: Sequence[str],
    names: Sequence[str] | None = None,
) -> Axes:
    """A panel a head: queries at the left, keys at the right, and a line for each weight, the thicker, the more.

    Args:
        weights: Of one sequence.
        queries: A text for each query, at most 20.
        keys: The same.
        names: What stands over each panel; None: ``head 0`` and so on. At most 8 heads.
    """
    heads, length, memory = weights.shape
    left, right = labels(queries, length, "queries"), labels(keys, memory, "keys")
    if not 1 <= heads <= MOST_HEADS or not max(length, memory) <= MOST_TOKENS:
        raise ValueError(
            f"weights has shape {tuple(weights.shape)}; at most {MOST_HEADS} heads of {MOST_TOKENS} tokens can be drawn"
        )
    names = [f"head {head}" for head in range(heads)] if names is None else labels(names, heads, "names")
    left, right, sheet = [short(word, 6) for word in left], [short(word, 6) for word in right], Sheet()
    room = max(map(sheet.width_of, left)) + 0.08
    other = max(map(sheet.width_of, right)) + 0.08
    wide, tall = room + SPAN + other + 0.3, max(length, memory) * LINE + 0.75
    across, told = max(1, min(heads, int(PAGE // wide))), []
    for head in range(heads):
        x, y, color = (head % across) * wide, -(head // across) * tall, HEADS[head % len(HEADS)]
        sheet.text(x + SPAN / 2, y + 0.2, names[head], NAME, color, va="bottom", weight="bold")
        for side, words, align in ((x - 0.06, left, "right"), (x + SPAN + 0.06, right, "left")):
            for row, word in enumerate(words):
                sheet.text(side, y - row * LINE, word, LABEL, ha=align)
        if head == 0:
            bottom = y - (max(length, memory) - 1) * LINE - 0.2
            sheet.text(x - 0.06, bottom, "queries", NUMBER, SOFT, ha="right", va="top")
            sheet.text(x + SPAN + 0.06, bottom, "keys", NUMBER, SOFT, ha="left", va="top")
        for i in range(length):
            for j in range(memory):
                if (weight := weights[head, i, j].item()) >= THIN:
                    ends = [(x, y - i * LINE), (x + SPAN, y - j * LINE)]
                    sheet.line(ends, color, 0.3 + 3.2 * weight, zorder=1 + weight)
        most = int(weights[head].argmax())
        told.append(f"{names[head]} most of all from {left[most // memory]!r} to {right[most % memory]!r}")
    return sheet.done(f"Lines from {length} queries to {memory} keys, the thicker, the more: " + "; ".join(told) + ".")
