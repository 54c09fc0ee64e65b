"""One operation with grids: which cell comes from where."""

from collections.abc import Sequence

import torch
from jaxtyping import Shaped
from matplotlib.axes import Axes
from torch import Tensor

from .formatting import checked_labels, first_matrix, number_sum, shortened, stack_size
from .grids import Grid, GridDrawing
from .palette import CELL, COLORS, LABEL, NAME, OPERATION, SHAPE, SOFT

MAX_SHOWN = 8
# none is the color of a query, a key or a value
HEAD_COLORS = ("#E69F00", "#CC79A7", "#56B4E9", "#8A8A00", "#882255", "#44AA99", "#6B6BD6", "#5A5A5A")


def matmul(
    a: Shaped[Tensor, "*batch n k"],
    b: Shaped[Tensor, "*batch k m"],
    *,
    follow: tuple[int, int] = (0, 0),
    names: tuple[str, str, str] = ("a", "b", "a @ b"),
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> Axes:
    """A matrix product: each cell sits where its row of ``a`` and its column of ``b`` cross; one is worked out.

    The colors are those of a query, a key and their scores: such a product is what the course draws.

    Args:
        a: Stands at the left.
        b: Stands above.
        follow: Row and column of the cell that is worked out.
        names: What the three are called.
        rows: A text for each row of ``a``.
        columns: A text for each column of ``b``.
    """
    (left, leading), (above, _) = first_matrix(a, "a"), first_matrix(b, "b")
    if left.shape[1] != above.shape[0]:
        raise ValueError(f"a {tuple(a.shape)} must have as many columns as b {tuple(b.shape)} has rows")
    product = left.double() @ above.double()  # (n, m)
    row, column = follow
    if not (0 <= row < len(product) and 0 <= column < product.shape[1]):
        raise ValueError(f"follow {follow} must be a cell of the product, which has shape {tuple(product.shape)}")
    sizes = torch.cat([left.flatten(), above.flatten()]).abs()
    sizes = sizes[sizes.isfinite()]
    largest = sizes.max().item() if len(sizes) else None  # one scale of shades for a and b
    draw, how = GridDrawing(), {"stack": stack_size(leading), "most": MAX_SHOWN}
    grid_a = draw.grid(
        left,
        0,
        0,
        "query",
        name=names[0],
        shape=str(tuple(a.shape)),
        rows=checked_labels(rows, len(left), "rows"),
        limit=largest,
        **how,
    )
    grid_p = draw.grid(
        product, grid_a.right + 0.6, 0, "scores", name=names[2], shape=str((*leading, *product.shape)), **how
    )
    grid_b = draw.grid(
        above, grid_p.x, grid_p.top + 0.3, "key",
        columns=checked_labels(columns, above.shape[1], "columns"), limit=largest, **how,
    )  # fmt: skip
    middle = grid_b.y + grid_b.height / 2
    draw.text(grid_b.x - 0.15, middle + 0.02, names[1], NAME, COLORS["key"], ha="right", va="bottom", weight="bold")
    draw.text(grid_b.x - 0.15, middle - 0.02, str(tuple(b.shape)), SHAPE, SOFT, ha="right", va="top")
    draw.text((grid_a.right + grid_p.x) / 2, grid_p.height / 2, "@", OPERATION + 3)
    draw.mark(grid_a, row=row)
    draw.mark(grid_b, column=column)
    draw.mark(grid_p, row=row, column=column)
    terms = list(zip(left[row].tolist(), above[:, column].tolist(), strict=True))
    line = f"row {row} with column {column}:  {number_sum(terms)}"
    draw.text(0, -0.85, line, LABEL, ha="left")
    return draw.finish(
        f"Matrix product {names[0]} {tuple(a.shape)} @ {names[1]} {tuple(b.shape)}: each cell of the result "
        f"{tuple(product.shape)} sits where its row of {names[0]} and its column of {names[1]} cross. {line}."
    )


def lookup(
    table: Shaped[Tensor, "V d_model"],
    ids: Shaped[Tensor, "B L"],
    vocabulary: Sequence[str],
    *,
    follow: tuple[int, int] = (0, 0),
) -> Axes:
    """An embedding: every id picks a row of the table; one token is followed from its id to its vector.

    Args:
        table: A row for each entry of the vocabulary.
        ids: Of at most 3 padded sentences of at most 8 tokens.
        vocabulary: A text for each row of the table.
        follow: Sentence and position of the token that is followed.
    """
    (values, _), named = first_matrix(table, "table"), checked_labels(vocabulary, len(table), "vocabulary")
    if ids.dim() != 2 or ids.shape[0] > 3 or ids.shape[1] > MAX_SHOWN:
        raise ValueError(
            f"ids {tuple(ids.shape)} must be (B, L) with at most 3 sentences of at most {MAX_SHOWN} tokens"
        )
    (sentence, place), vectors = follow, values[ids]  # (B, L, d_model)
    draw, chosen, limit = GridDrawing(), int(ids[follow]), float(values.abs().max()) or 1.0
    numbered = [f"{shortened(name)} {i}" for i, name in enumerate(named)]  # ids meet their rows by these numbers
    wide = max(draw.width_of(shortened(name)) for name in named) + 0.15
    wider = max(draw.width_of(name) for name in numbered) + 0.15
    how = {"role": "position", "limit": limit, "most": MAX_SHOWN}
    whole = draw.grid(
        values, 1.1 + wider, 0, name="table", shape=f"(V, d_model)\n{tuple(table.shape)}", rows=numbered, **how
    )
    draw.mark(whole, row=chosen)
    box = whole.box(chosen)
    middle = box[1] + box[3] / 2 if box else whole.height / 2
    step = CELL * ids.shape[1] + 0.35
    y = (whole.height + step * len(ids)) / 2
    for b, row in enumerate(ids):
        y -= step
        tokens, last = [named[i] for i in row], b == len(ids) - 1
        captions = [("ids", "(B, L)", ids), ("x", "(B, L, d_model)", vectors)] if last else []
        naming = [{"name": name, "shape": f"{of}\n{tuple(t.shape)}"} for name, of, t in captions] or [{}, {}]
        left = draw.grid(row[:, None] * 0, 0, y, rows=tokens, write=False, **naming[0])
        for i, token in enumerate(row.tolist()):
            draw.text(left.x + CELL / 2, left.top - (i + 0.5) * CELL, str(token), LABEL)
        right = draw.grid(vectors[b], whole.right + 0.75 + wide, y, rows=tokens, **naming[1], **how)
        if b == sentence:
            draw.mark(left, row=place)
            draw.mark(right, row=place)
            level = left.top - (place + 0.5) * CELL
            draw.arrow((left.right + 0.08, level), (whole.x - wider, middle))
            draw.arrow((whole.right + 0.08, middle), (right.x - wide, level))
    return draw.finish(
        f"Embedding lookup: ids {tuple(ids.shape)} pick rows of a table {tuple(table.shape)}, which gives "
        f"{tuple(vectors.shape)}. Followed: {named[chosen]!r}, id {chosen}, picks row {chosen}."
    )


def reshape(x: Shaped[Tensor, "..."], *shape: int) -> Axes:
    """What ``x.reshape(*shape)`` does to the places of the numbers, which keep their order; colors follow the first axis.

    Args:
        x: One or two axes.
        shape: One or two sizes; -1 is worked out.
    """
    after = x.reshape(*shape)
    if not (1 <= x.dim() <= 2 and 1 <= after.dim() <= 2):
        raise ValueError(f"x {tuple(x.shape)} and shape {tuple(after.shape)} must have one or two axes each")
    before = x.reshape(1, -1) if x.dim() == 1 else x
    owners = torch.arange(len(before))[:, None].expand_as(before)
    draw = GridDrawing()
    grid = _grid_by_owner(draw, before, owners, 0, 0)
    to = after.reshape(1, -1) if after.dim() == 1 else after
    other = _grid_by_owner(
        draw, to, owners.reshape(to.shape), grid.right + 1.6, (grid.height - CELL * min(len(to), MAX_SHOWN)) / 2
    )
    label = f"reshape({', '.join(map(str, shape))})"
    draw.arrow((grid.right + 0.12, grid.height / 2), (other.x - 0.12, grid.height / 2), label)
    for shown, tensor in ((grid, x), (other, after)):
        draw.text(shown.x + shown.width / 2, shown.y - 0.1, str(tuple(tensor.shape)), SHAPE, SOFT, va="top")
    return draw.finish(
        f"reshape from {tuple(x.shape)} to {tuple(after.shape)}: the numbers keep their order, row after row; "
        "colors show from which row each came."
    )


def split_merge(x: Shaped[Tensor, "L d_model"], num_heads: int, tokens: Sequence[str] | None = None) -> Axes:
    """How the features of each token are dealt out to the heads, and put together again: a color a head.

    Args:
        x: The tokens' vectors.
        num_heads: Divides the number of features.
        tokens: A text for each token.
    """
    values, _ = first_matrix(x, "x")
    length, d_model = values.shape
    if num_heads < 1 or d_model % num_heads:
        raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
    d_head, named = d_model // num_heads, checked_labels(tokens, length, "tokens")
    owners = (torch.arange(d_model) // d_head).expand(length, -1)
    draw = GridDrawing()
    most, cell = (8, 0.3) if d_model <= 8 else (6, 0.3)
    whole = _grid_by_owner(draw, values, owners, 0, 0, named, most=most, cell=cell)
    shown = list(range(num_heads)) if num_heads <= 4 else [0, 1, None, num_heads - 1]
    tall = whole.height
    x_heads, step = whole.right + 1.0, tall + 0.42
    y = (whole.height + step * len(shown) - 0.42) / 2 - tall
    for head in shown:
        if head is None:
            draw.text(x_heads + 0.4, y + tall / 2, "⋮", NAME, SOFT)
        else:
            piece = slice(head * d_head, (head + 1) * d_head)
            grid = _grid_by_owner(draw, values[:, piece], owners[:, piece], x_heads, y, most=most, cell=cell)
            draw.text(
                grid.x,
                grid.top + 0.05,
                f"head {head}",
                LABEL,
                HEAD_COLORS[head % len(HEAD_COLORS)],
                ha="left",
                va="bottom",
            )
            right = grid.right
        y -= step
    low = y + step
    again = _grid_by_owner(draw, values, owners, right + 1.0, 0, most=most, cell=cell)
    half = whole.height / 2
    draw.arrow((whole.right + 0.12, half), (x_heads - 0.14, half), "split")
    draw.arrow((right + 0.14, half), (again.x - 0.12, half), "merge")
    for grid in (whole, again):
        draw.text(grid.x + grid.width / 2, -0.1, f"(L, d_model)\n({length}, {d_model})", SHAPE, SOFT, va="top")
    draw.text(
        (x_heads + right) / 2,
        min(low, -0.0) - 0.1,
        f"(H, L, d_head)\n({num_heads}, {length}, {d_head})",
        SHAPE,
        SOFT,
        va="top",
    )
    return draw.finish(
        f"Splitting {length} tokens of {d_model} features into {num_heads} heads of {d_head} features each, and merging them: "
        "each head gets neighboring features of every token; merging puts them back in the same order."
    )


def _grid_by_owner(
    draw: GridDrawing, values: Tensor, owners: Tensor, x: float, y: float, rows: Sequence[str] | None = None,
    most: int = MAX_SHOWN, cell: float = CELL,
) -> Grid:  # fmt: skip
    """A grid whose cells have the color of what they belong to."""
    grid = draw.grid(values * 0, x, y, rows=rows, most=most, write=False, cell=cell)
    for row in grid.rows:
        for column in grid.columns:
            if row is not None and column is not None:
                left, bottom, width, height = grid.box(row, column)
                color = HEAD_COLORS[int(owners[row, column]) % len(HEAD_COLORS)]
                draw.cell(left, bottom, width, height, float(values[row, column]), color)
    return grid
