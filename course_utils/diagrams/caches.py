"""What is kept while a model writes: which heads share keys and values, and the cache that they fill."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from .drawing import Drawing
from .formatting import shortened, shown_indices
from .palette import CELL, COLORS, LABEL, NAME, NUMBER, SHAPE, SOFT

BOX, HEAD = 0.42, 0.46  # inches: a head's box, and from one head to the next
ROLES = ((1.71, "query heads", "query"), (0.66, "key heads", "key"), (0.21, "value heads", "value"))


def _kind(num_heads: int, kv: int) -> str:
    if num_heads < 1 or kv < 1 or num_heads % kv:
        raise ValueError(f"num_kv_heads ({kv}) must divide num_heads ({num_heads}), both at least 1")
    if kv == num_heads:
        return "multi-head attention"
    return "multi-query attention" if kv == 1 else "grouped-query attention"


def _wire(draw: Drawing, left: float, num_heads: int, kv: int) -> float:
    """The boxes and lines of one layer, from ``left`` on; how wide they are."""
    group, shown = num_heads // kv, shown_indices(num_heads, 16)
    places = {head: left + HEAD * place for place, head in enumerate(shown) if head is not None}
    groups = {}
    for head, x in places.items():
        draw.box(x, 1.5, BOX, BOX, str(head), "query", size=NUMBER)
        groups.setdefault(head // group, []).append(x)
    for kv_head, xs in groups.items():
        x = sum(xs) / len(xs)
        draw.frame(x - 0.03, -0.03, BOX + 0.06, 0.93)
        draw.box(x, 0.45, BOX, BOX, str(kv_head), "key", size=NUMBER)
        draw.box(x, 0.0, BOX, BOX, str(kv_head), "value", size=NUMBER)
        for above in xs:
            draw.line([(above + BOX / 2, 1.5), (x + BOX / 2, 0.9)], COLORS["query"], 1.6)
    if None in shown:
        draw.text(left + HEAD * shown.index(None) + BOX / 2, 1.71, "⋯", NAME, SOFT)
    return HEAD * len(shown)


def _name_the_rows(draw: Drawing) -> None:
    for y, text, role in ROLES:
        draw.text(-0.12, y, text, LABEL, COLORS[role], ha="right", weight="bold")


def head_wiring(num_heads: int, num_kv_heads: int | None = None) -> Axes:
    """A line from each query head to the frame around the key and the value that it reads.

    Args:
        num_heads: Query heads.
        num_kv_heads: Heads of keys and values; None: as many, so that nothing is shared.
    """
    kv, draw = num_heads if num_kv_heads is None else num_kv_heads, Drawing()
    kind, group = _kind(num_heads, kv), num_heads // max(kv, 1)
    _wire(draw, 0.0, num_heads, kv)
    _name_the_rows(draw)
    text = f"{kind}:  {num_heads} query heads,  {kv} of keys and values"
    draw.text(0, 2.05, text, LABEL, ha="left", va="bottom")
    if group > 1:
        below = f"{group} query heads share one; the cache is {group} times smaller"
        draw.text(0, -0.12, below, SHAPE, SOFT, ha="left", va="top")
    return draw.finish(
        f"{kind.capitalize()}: {num_heads} query heads and {kv} heads of keys and values; "
        + (f"{group} neighboring query heads read the same one." if group > 1 else "each query head reads its own.")
    )


def head_wirings(num_heads: int, num_kv_heads: Sequence[int]) -> Axes:
    """Several layers side by side that differ in nothing but how many heads of keys and values they have.

    Args:
        num_heads: Query heads, the same in each, at most 6.
        num_kv_heads: Heads of keys and values, of one layer each, at most 3.
    """
    if not 1 <= num_heads <= 6 or not 1 <= len(num_kv_heads) <= 3:
        raise ValueError(f"{len(num_kv_heads)} layers of {num_heads} heads; at most 3 layers of 6 heads can be drawn")
    draw, left, said = Drawing(), 0.0, []
    for kv in num_kv_heads:
        kind = _kind(num_heads, kv)
        draw.text(left, 2.27, kind.capitalize(), LABEL, ha="left", va="bottom", weight="bold")
        draw.text(left, 2.05, f"{num_heads} query heads, {kv} of keys and values", NUMBER, ha="left", va="bottom")
        below = f"cache: {kv}/{num_heads}" if kv < num_heads else "cache: as large as it gets"
        draw.text(left, -0.12, below, NUMBER, SOFT, ha="left", va="top")
        left += max(_wire(draw, left, num_heads, kv), 2.4) + 0.3
        said.append(f"{kind}, {num_heads // kv} query heads to each of {kv} heads of keys and values")
    _name_the_rows(draw)
    return draw.finish("Side by side: " + "; ".join(said) + ". A frame holds a key and the value that goes with it.")


def _check_prompt(tokens: Sequence[str], prompt: int) -> None:
    if not 1 <= prompt < len(tokens):
        raise ValueError(f"prompt ({prompt}) must be at least 1 and less than the number of tokens ({len(tokens)})")


def _strip(
    draw: Drawing, left: float, tokens: Sequence[str], prompt: int, cached: bool, width: float, *, short: bool = False
) -> int:
    """A row a step, from ``left`` on, columns ``width`` wide, in few words if ``short``; returns how many are computed."""
    columns, steps = shown_indices(len(tokens), 11), list(range(prompt, len(tokens)))
    rows = [steps[i] if i is not None else None for i in shown_indices(len(steps), 8)]
    for place, end in enumerate(rows):
        y = -(place + 1) * (CELL + 0.06)
        if end is None:
            draw.text(left + len(columns) * width / 2, y + CELL / 2, "⋮", NAME, SOFT)
            continue
        new = range(end) if not cached or end == prompt else range(end - 1, end)
        for at, column in enumerate(columns):
            x = left + at * width
            if column is None:
                draw.text(x + width / 2, y + CELL / 2, "⋯" if end > columns[at - 1] + 1 else "", LABEL, SOFT)
            elif column in new:
                draw.box(x, y, width, CELL, "k, v", "cache", fill=0.75, size=NUMBER)
            elif column < end:
                draw.box(x, y, width, CELL, "kept", "cache", fill=0.12, size=NUMBER)
        draw.text(left - 0.12, y + CELL / 2, f"step {end - prompt + 1}", LABEL, ha="right")
        says = f"computes {len(new)}" + ("" if short else f", says “{shortened(tokens[end])}”")
        draw.text(left + len(columns) * width + 0.06, y + CELL / 2, says, LABEL, SOFT, ha="left")
    for at, column in enumerate(columns):
        if column is not None:
            where = (left + at * width + width / 2 - 0.05, 0.08)
            draw.text(*where, shortened(tokens[column]), LABEL, ha="left", va="bottom", rotation=50)
    made = sum(1 if cached and end > prompt else end for end in steps)
    text = _short_sum(made, len(steps), cached)
    if not short:
        text = text.replace(f"{made} positions", f"keys and values of {made} positions computed")
    draw.text(left - 0.12, -(len(rows) + 1) * (CELL + 0.06) + 0.1, text, LABEL, ha="left", va="top")
    return made


def _short_sum(made: int, num_tokens: int, cached: bool) -> str:
    return f"{'with' if cached else 'without'} a cache: {made} positions for {num_tokens} tokens"


def _computed(made: int, cached: bool) -> str:
    once = "each position once; the others are kept from before"
    again = "every position again in each step"
    return f"keys and values of {made} positions are computed in all, {once if cached else again}."


def cache_strip(tokens: Sequence[str], prompt: int = 1, *, cached: bool = True) -> Axes:
    """What is computed and what is kept, step by step, while a decoder writes: a row a step, a column a position.

    Args:
        tokens: The whole text, prompt first.
        prompt: How many of them are given.
        cached: Whether keys and values are kept; else every step computes all of them again.
    """
    _check_prompt(tokens, prompt)
    draw = Drawing()
    made = _strip(draw, 0.0, tokens, prompt, cached, 0.62)
    how = f"{'with' if cached else 'without'} a cache"
    return draw.finish(
        f"Writing {len(tokens) - prompt} tokens after a prompt of {prompt} {how}: {_computed(made, cached)}"
    )


def cache_strips(tokens: Sequence[str], prompt: int = 1) -> Axes:
    """The same text written without a cache (left) and with one (right), as ``cache_strip`` draws each.

    Args:
        tokens: The whole text, prompt first.
        prompt: How many of them are given.
    """
    _check_prompt(tokens, prompt)
    draw = Drawing()
    across = len(shown_indices(len(tokens), 11)) * 0.44 + draw.width_of("computes 10")
    second = max(across + 0.95, draw.width_of(_short_sum(100, 10, False)) + 0.8)
    made = [_strip(draw, 0.0, tokens, prompt, False, 0.44, short=True)]
    made.append(_strip(draw, second, tokens, prompt, True, 0.44, short=True))
    return draw.finish(
        f"Writing {len(tokens) - prompt} tokens after a prompt of {prompt}. Without a cache {_computed(made[0], False)} "
        f"With a cache {_computed(made[1], True)}"
    )
