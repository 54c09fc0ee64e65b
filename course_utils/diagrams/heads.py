"""Several heads: what each looks at, each a panel of its own."""

from collections.abc import Sequence

from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from torch import Tensor

from .drawing import Drawing
from .formatting import checked_labels, shortened
from .grids import GridDrawing
from .operations import HEAD_COLORS
from .palette import COLORS, LABEL, MAX_SHOWN, NAME, NUMBER, PAGE, SMALL, SOFT

LINE, SPAN, MAX_TOKENS, MAX_HEADS = 0.22, 1.1, 20, 8  # inches a token, inches from queries to keys
THIN = 0.06  # a weight below it draws no line


def _labels(
    weights: Tensor, queries: Sequence[str], keys: Sequence[str], names: Sequence[str] | None, most_tokens: int
) -> tuple[list[str], list[str], list[str]]:
    """Of queries and keys, as short as they are written, and of heads; an error if there are more than can be drawn."""
    heads, length, memory = weights.shape
    left, right = checked_labels(queries, length, "queries"), checked_labels(keys, memory, "keys")
    if not 1 <= heads <= MAX_HEADS or not max(length, memory) <= most_tokens:
        raise ValueError(
            f"weights has shape {tuple(weights.shape)}; at most {MAX_HEADS} heads of {most_tokens} tokens can be drawn"
        )
    names = [f"head {head}" for head in range(heads)] if names is None else checked_labels(names, heads, "names")
    return [shortened(word, 6) for word in left], [shortened(word, 6) for word in right], names


def attention_lines(
    weights: Float[Tensor, "H L_q L_k"], queries: Sequence[str], keys: Sequence[str], names: Sequence[str] | None = None
) -> Axes:
    """A panel a head: queries at the left, keys at the right, and a line for each weight, the thicker, the more.

    Args:
        weights: Of one sequence.
        queries: A text for each query, at most 20.
        keys: The same.
        names: What stands over each panel; None: ``head 0`` and so on. At most 8 heads.
    """
    heads, length, memory = weights.shape
    left, right, names = _labels(weights, queries, keys, names, MAX_TOKENS)
    draw = Drawing()
    left_width = max(map(draw.width_of, left)) + 0.08
    right_width = max(map(draw.width_of, right)) + 0.08
    wide, tall = left_width + SPAN + right_width + 0.3, max(length, memory) * LINE + 0.75
    across, sentences = max(1, min(heads, int(PAGE // wide))), []
    for head in range(heads):
        x, y, color = (head % across) * wide, -(head // across) * tall, HEAD_COLORS[head % len(HEAD_COLORS)]
        draw.text(x + SPAN / 2, y + 0.2, names[head], NAME, color, va="bottom", weight="bold")
        for side, words, align in ((x - 0.06, left, "right"), (x + SPAN + 0.06, right, "left")):
            for row, word in enumerate(words):
                draw.text(side, y - row * LINE, word, LABEL, ha=align)
        if head == 0:
            bottom = y - (max(length, memory) - 1) * LINE - 0.2
            draw.text(x - 0.06, bottom, "queries", NUMBER, SOFT, ha="right", va="top")
            draw.text(x + SPAN + 0.06, bottom, "keys", NUMBER, SOFT, ha="left", va="top")
        for i in range(length):
            for j in range(memory):
                if (weight := weights[head, i, j].item()) >= THIN:
                    ends = [(x, y - i * LINE), (x + SPAN, y - j * LINE)]
                    draw.line(ends, color, 0.3 + 3.2 * weight, zorder=1 + weight)
        most = int(weights[head].argmax())
        sentences.append(f"{names[head]} most of all from {left[most // memory]!r} to {right[most % memory]!r}")
    return draw.finish(
        f"Lines from {length} queries to {memory} keys, the thicker, the more: " + "; ".join(sentences) + "."
    )


def head_maps(
    weights: Float[Tensor, "H L_q L_k"],
    queries: Sequence[str],
    keys: Sequence[str],
    outlined: Bool[Tensor, "L_q L_k"] | None = None,
    names: Sequence[str] | None = None,
) -> Axes:
    """A small map a head, queries down and keys across, all on one scale: white is 0, the darkest is 1.

    Args:
        weights: Of one sequence.
        queries: A text for each query, at most 12.
        keys: The same.
        outlined: True for the cells that get a frame, in every map the same ones.
        names: What stands over each map; None: ``head 0`` and so on. At most 8 heads.
    """
    heads, length, memory = weights.shape
    left, right, names = _labels(weights, queries, keys, names, MAX_SHOWN)
    draw = GridDrawing()
    above = max(map(draw.width_of, right)) + 0.12
    wide = SMALL * memory + max(map(draw.width_of, left)) + 0.22
    across, sentences = max(1, min(heads, int(1.15 * PAGE // wide))), []
    for head in range(heads):
        x, y = (head % across) * wide, -(head // across) * (SMALL * length + above + 0.5)
        how = {"shades": True, "limit": 1.0, "cell": SMALL, "rows": left}
        grid = draw.grid(weights[head], x, y, "weights", **how)
        for column, word in enumerate(right):
            draw.text(
                x + (column + 0.5) * SMALL, grid.top + 0.06, word, LABEL, va="bottom", rotation=90 * (len(word) > 1)
            )
        draw.text(x + grid.width / 2, grid.top + above + 0.06, names[head], NAME, va="bottom", weight="bold")
        for row, column in outlined.nonzero().tolist() if outlined is not None else ():
            draw.mark(grid, row, column, COLORS["key"])
        most = int(weights[head].argmax())
        inside = (
            f", {float((weights[head] * outlined).sum(-1).mean()):.0%} inside the frames"
            if outlined is not None
            else ""
        )
        sentences.append(f"{names[head]} most of all from {left[most // memory]!r} to {right[most % memory]!r}{inside}")
    return draw.finish(f"Maps of the weights of {length} queries on {memory} keys: {'; '.join(sentences)}.")
