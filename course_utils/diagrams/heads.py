"""Several heads: what each looks at, which keys and values each reads, and the cache that they fill."""

from collections.abc import Sequence

from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from torch import Tensor

from .drawing import Drawing
from .formatting import checked_labels, shortened, shown_indices
from .grids import GridDrawing
from .operations import HEAD_COLORS
from .palette import CELL, COLORS, LABEL, MAX_SHOWN, NAME, NUMBER, PAGE, SHAPE, SMALL, SOFT

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


def head_wiring(num_heads: int, num_kv_heads: int | None = None) -> Axes:
    """A line from each query head to the head of keys and values that it reads.

    Args:
        num_heads: Query heads.
        num_kv_heads: Heads of keys and values; None: as many, so that nothing is shared.
    """
    kv = num_heads if num_kv_heads is None else num_kv_heads
    if num_heads < 1 or kv < 1 or num_heads % kv:
        raise ValueError(f"num_kv_heads ({kv}) must divide num_heads ({num_heads}), both at least 1")
    group, draw = num_heads // kv, Drawing()
    shown = shown_indices(num_heads, 16)
    places = {head: 0.46 * place for place, head in enumerate(shown) if head is not None}
    gap = next((0.46 * place for place, head in enumerate(shown) if head is None), None)
    for head, x in places.items():
        draw.box(x, 1.5, 0.42, 0.42, str(head), "query", size=NUMBER)
    groups = {}
    for head, x in places.items():
        groups.setdefault(head // group, []).append(x)
    for kv_head, xs in groups.items():
        x = sum(xs) / len(xs)
        draw.box(x, 0.45, 0.42, 0.42, str(kv_head), "key", size=NUMBER)
        draw.box(x, 0.0, 0.42, 0.42, str(kv_head), "value", size=NUMBER)
        for above in xs:
            draw.line([(above + 0.21, 1.5), (x + 0.21, 0.87)], COLORS["query"], 1.6)
    if gap is not None:
        draw.text(gap + 0.21, 1.71, "⋯", NAME, SOFT)
    for y, text, role in ((1.71, "query heads", "query"), (0.66, "key heads", "key"), (0.21, "value heads", "value")):
        draw.text(-0.12, y, text, LABEL, COLORS[role], ha="right", weight="bold")
    kind = (
        "multi-head attention" if kv == num_heads else "multi-query attention" if kv == 1 else "grouped-query attention"
    )
    text = f"{kind}:  {num_heads} query heads,  {kv} of keys and values"
    draw.text(0, 2.05, text, LABEL, ha="left", va="bottom")
    if group > 1:
        draw.text(
            0,
            -0.12,
            f"{group} query heads share one; the cache is {group} times smaller",
            SHAPE,
            SOFT,
            ha="left",
            va="top",
        )
    return draw.finish(
        f"{kind.capitalize()}: {num_heads} query heads and {kv} heads of keys and values; "
        + (f"{group} neighboring query heads read the same one." if group > 1 else "each query head reads its own.")
    )


def cache_strip(tokens: Sequence[str], prompt: int = 1, *, cached: bool = True) -> Axes:
    """What is computed and what is kept, step by step, while a decoder writes: a row a step, a column a position.

    Args:
        tokens: The whole text, prompt first.
        prompt: How many of them are given.
        cached: Whether keys and values are kept; else every step computes all of them again.
    """
    if not 1 <= prompt < len(tokens):
        raise ValueError(f"prompt ({prompt}) must be at least 1 and less than the number of tokens ({len(tokens)})")
    total = len(tokens)
    columns, steps = shown_indices(total, 11), list(range(prompt, total))
    rows = [steps[i] if i is not None else None for i in shown_indices(len(steps), 8)]
    draw, made, width = Drawing(), 0, 0.62
    per_step = [1 if cached and end > prompt else end for end in steps]
    made = sum(per_step)
    for place, end in enumerate(rows):
        y = -(place + 1) * (CELL + 0.06)
        if end is None:
            draw.text(len(columns) * width / 2, y + CELL / 2, "⋮", NAME, SOFT)
            continue
        new = range(end) if not cached or end == prompt else range(end - 1, end)
        for at, column in enumerate(columns):
            x = at * width
            if column is None:
                draw.text(x + width / 2, y + CELL / 2, "⋯" if end > columns[at - 1] + 1 else "", LABEL, SOFT)
            elif column in new:
                draw.box(x, y, width, CELL, "k, v", "cache", fill=0.75, size=NUMBER)
            elif column < end:
                draw.box(x, y, width, CELL, "kept", "cache", fill=0.12, size=NUMBER)
        text = f"step {end - prompt + 1}"
        draw.text(-0.12, y + CELL / 2, text, LABEL, ha="right")
        amount = per_step[end - prompt]
        draw.text(
            len(columns) * width + 0.12,
            y + CELL / 2,
            f"computes {amount}, says “{shortened(tokens[end])}”",
            LABEL,
            SOFT,
            ha="left",
        )
    for at, column in enumerate(columns):
        if column is not None:
            draw.text(
                at * width + width / 2 - 0.05,
                0.08,
                shortened(tokens[column]),
                LABEL,
                ha="left",
                va="bottom",
                rotation=50,
            )
    bottom = -(len(rows) + 1) * (CELL + 0.06)
    how = "with a cache" if cached else "without a cache"
    draw.text(
        -0.12,
        bottom + 0.1,
        f"{how}: keys and values of {made} positions computed for {len(steps)} tokens",
        LABEL,
        ha="left",
        va="top",
    )
    return draw.finish(
        f"Writing {len(steps)} tokens after a prompt of {prompt} {how}: keys and values of {made} positions are computed in all"
        + (
            ", each position once; the others are kept from before."
            if cached
            else ", every position again in each step."
        )
    )
