"""Which query head reads which keys and values, and a cache that grows while a text is written."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from .drawing import Sheet
from .palette import CELL, LABEL, NAME, NUMBER, ROLES, SHAPE, SOFT
from .words import part, short


def head_wiring(num_heads: int, num_kv_heads: int | None = None) -> Axes:
    """A line from each query head to the head of keys and values that it reads.

    Args:
        num_heads: Query heads.
        num_kv_heads: Heads of keys and values; None: as many, so that nothing is shared.
    """
    kv = num_heads if num_kv_heads is None else num_kv_heads
    if num_heads < 1 or kv < 1 or num_heads % kv:
        raise ValueError(f"num_kv_heads ({kv}) must divide num_heads ({num_heads}), both at least 1")
    group, sheet = num_heads // kv, Sheet()
    shown = part(num_heads, 16)
    places = {head: 0.46 * place for place, head in enumerate(shown) if head is not None}
    gap = next((0.46 * place for place, head in enumerate(shown) if head is None), None)
    for head, x in places.items():
        sheet.box(x, 1.5, 0.42, 0.42, str(head), "query", size=NUMBER)
    groups = {}
    for head, x in places.items():
        groups.setdefault(head // group, []).append(x)
    for kv_head, xs in groups.items():
        x = sum(xs) / len(xs)
        sheet.box(x, 0.45, 0.42, 0.42, str(kv_head), "key", size=NUMBER)
        sheet.box(x, 0.0, 0.42, 0.42, str(kv_head), "value", size=NUMBER)
        for above in xs:
            sheet.line([(above + 0.21, 1.5), (x + 0.21, 0.87)], ROLES["query"], 1.6)
    if gap is not None:
        sheet.text(gap + 0.21, 1.71, "⋯", NAME, SOFT)
    for y, said, role in ((1.71, "query heads", "query"), (0.66, "key heads", "key"), (0.21, "value heads", "value")):
        sheet.text(-0.12, y, said, LABEL, ROLES[role], ha="right", weight="bold")
    kind = (
        "multi-head attention" if kv == num_heads else "multi-query attention" if kv == 1 else "grouped-query attention"
    )
    said = f"{kind}:  {num_heads} query heads,  {kv} of keys and values"
    sheet.text(0, 2.05, said, LABEL, ha="left", va="bottom")
    if group > 1:
        sheet.text(
            0,
            -0.12,
            f"{group} query heads share one; the cache is {group} times smaller",
            SHAPE,
            SOFT,
            ha="left",
            va="top",
        )
    return sheet.done(
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
    columns, steps = part(total, 11), list(range(prompt, total))
    rows = [steps[i] if i is not None else None for i in part(len(steps), 8)]
    sheet, made, width = Sheet(), 0, 0.62
    per_step = [1 if cached and end > prompt else end for end in steps]
    made = sum(per_step)
    for place, end in enumerate(rows):
        y = -(place + 1) * (CELL + 0.06)
        if end is None:
            sheet.text(len(columns) * width / 2, y + CELL / 2, "⋮", NAME, SOFT)
            continue
        new = range(end) if not cached or end == prompt else range(end - 1, end)
        for at, column in enumerate(columns):
            x = at * width
            if column is None:
                sheet.text(x + width / 2, y + CELL / 2, "⋯" if end > columns[at - 1] + 1 else "", LABEL, SOFT)
            elif column in new:
                sheet.box(x, y, width, CELL, "k, v", "cache", fill=0.75, size=NUMBER)
            elif column < end:
                sheet.box(x, y, width, CELL, "kept", "cache", fill=0.12, size=NUMBER)
        said = f"step {end - prompt + 1}"
        sheet.text(-0.12, y + CELL / 2, said, LABEL, ha="right")
        amount = per_step[end - prompt]
        sheet.text(
            len(columns) * width + 0.12,
            y + CELL / 2,
            f"computes {amount}, says “{short(tokens[end])}”",
            LABEL,
            SOFT,
            ha="left",
        )
    for at, column in enumerate(columns):
        if column is not None:
            sheet.text(
                at * width + width / 2 - 0.05, 0.08, short(tokens[column]), LABEL, ha="left", va="bottom", rotation=50
            )
    bottom = -(len(rows) + 1) * (CELL + 0.06)
    how = "with a cache" if cached else "without a cache"
    sheet.text(
        -0.12,
        bottom + 0.1,
        f"{how}: keys and values of {made} positions computed for {len(steps)} tokens",
        LABEL,
        ha="left",
        va="top",
    )
    return sheet.done(
        f"Writing {len(steps)} tokens after a prompt of {prompt} {how}: keys and values of {made} positions are computed in all"
        + (
            ", each position once; the others are kept from before."
            if cached
            else ", every position again in each step."
        )
    )
