"""One operation with cards: which cell comes from where."""

from collections.abc import Sequence

import torch
from jaxtyping import Shaped
from matplotlib.axes import Axes
from torch import Tensor

from .cards import Card, Table
from .palette import CELL, LABEL, NAME, OPERATION, ROLES, SHAPE, SOFT
from .words import labels, matrix, number_sum, short, stacked

MOST = 8
HEADS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A3E9D", "#5A5A5A")


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

    Args:
        a: Stands at the left.
        b: Stands above.
        follow: Row and column of the cell that is worked out.
        names: What the three are called.
        rows: A text for each row of ``a``.
        columns: A text for each column of ``b``.
    """
    (left, leading), (above, _) = matrix(a, "a"), matrix(b, "b")
    if left.shape[1] != above.shape[0]:
        raise ValueError(f"a {tuple(a.shape)} must have as many columns as b {tuple(b.shape)} has rows")
    product = left.double() @ above.double()  # (n, m)
    row, column = follow
    if not (0 <= row < len(product) and 0 <= column < product.shape[1]):
        raise ValueError(f"follow {follow} must be a cell of the product, which has shape {tuple(product.shape)}")
    sheet, how = Table(), {"stack": stacked(leading), "most": MOST}
    card_a = sheet.card(
        left, 0, 0, "query", name=names[0], shape=str(tuple(a.shape)), rows=labels(rows, len(left), "rows"), **how
    )
    card_p = sheet.card(
        product, card_a.right + 0.6, 0, "output", name=names[2], shape=str((*leading, *product.shape)), **how
    )
    card_b = sheet.card(
        above, card_p.x, card_p.top + 0.3, "key", columns=labels(columns, above.shape[1], "columns"), **how
    )
    middle = card_b.y + card_b.height / 2
    sheet.text(card_b.x - 0.15, middle + 0.02, names[1], NAME, ROLES["key"], ha="right", va="bottom", weight="bold")
    sheet.text(card_b.x - 0.15, middle - 0.02, str(tuple(b.shape)), SHAPE, SOFT, ha="right", va="top")
    sheet.text((card_a.right + card_p.x) / 2, card_p.height / 2, "@", OPERATION + 3)
    sheet.mark(card_a, row=row)
    sheet.mark(card_b, column=column)
    sheet.mark(card_p, row=row, column=column)
    terms = list(zip(left[row].tolist(), above[:, column].tolist(), strict=True))
    line = f"row {row} with column {column}:  {number_sum(terms)}"
    sheet.text(0, -0.85, line, LABEL, ha="left")
    return sheet.done(
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
    (values, _), named = matrix(table, "table"), labels(vocabulary, len(table), "vocabulary")
    if ids.dim() != 2 or ids.shape[0] > 3 or ids.shape[1] > MOST:
        raise ValueError(f"ids {tuple(ids.shape)} must be (B, L) with at most 3 sentences of at most {MOST} tokens")
    (sentence, place), vectors = follow, values[ids]  # (B, L, d_model)
    sheet, chosen, limit = Table(), int(ids[follow]), float(values.abs().max()) or 1.0
    wide = max(sheet.width_of(short(name)) for name in named) + 0.15
    how = {"role": "position", "limit": limit, "most": MOST}
    whole = sheet.card(
        values, 1.25 + wide, 0, name="table", shape=f"(V, d_model)\n{tuple(table.shape)}", rows=named, **how
    )
    sheet.mark(whole, row=chosen)
    box = whole.box(chosen)
    middle = box[1] + box[3] / 2 if box else whole.height / 2
    step = CELL * ids.shape[1] + 0.35
    y = (whole.height + step * len(ids)) / 2
    for b, row in enumerate(ids):
        y -= step
        tokens, last = [named[i] for i in row], b == len(ids) - 1
        said = [("ids", "(B, L)", ids), ("x", "(B, L, d_model)", vectors)] if last else []
        naming = [{"name": name, "shape": f"{of}\n{tuple(t.shape)}"} for name, of, t in said] or [{}, {}]
        left = sheet.card(row[:, None] * 0, 0, y, rows=tokens, write=False, **naming[0])
        for i, token in enumerate(row.tolist()):
            sheet.text(left.x + CELL / 2, left.top - (i + 0.5) * CELL, str(token), LABEL)
        right = sheet.card(vectors[b], whole.right + 0.85 + wide, y, rows=tokens, **naming[1], **how)
        if b == sentence:
            sheet.mark(left, row=place)
            sheet.mark(right, row=place)
            level = left.top - (place + 0.5) * CELL
            sheet.arrow((left.right + 0.08, level), (whole.x - wide, middle))
            sheet.arrow((whole.right + 0.08, middle), (right.x - wide, level))
    return sheet.done(
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
    sheet = Table()
    card = _owned(sheet, before, owners, 0, 0)
    to = after.reshape(1, -1) if after.dim() == 1 else after
    other = _owned(sheet, to, owners.reshape(to.shape), card.right + 1.6, (card.height - CELL * min(len(to), MOST)) / 2)
    said = f"reshape({', '.join(map(str, shape))})"
    sheet.arrow((card.right + 0.12, card.height / 2), (other.x - 0.12, card.height / 2), said)
    for shown, tensor in ((card, x), (other, after)):
        sheet.text(shown.x + shown.width / 2, shown.y - 0.1, str(tuple(tensor.shape)), SHAPE, SOFT, va="top")
    return sheet.done(
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
    values, _ = matrix(x, "x")
    length, d_model = values.shape
    if num_heads < 1 or d_model % num_heads:
        raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
    d_head, named = d_model // num_heads, labels(tokens, length, "tokens")
    owners = (torch.arange(d_model) // d_head).expand(length, -1)
    sheet = Table()
    most, cell = (8, 0.3) if d_model <= 8 else (6, 0.3)
    whole = _owned(sheet, values, owners, 0, 0, named, most=most, cell=cell)
    shown = list(range(num_heads)) if num_heads <= 4 else [0, 1, None, num_heads - 1]
    tall = whole.height
    x_heads, step = whole.right + 1.0, tall + 0.42
    y = (whole.height + step * len(shown) - 0.42) / 2 - tall
    for head in shown:
        if head is None:
            sheet.text(x_heads + 0.4, y + tall / 2, "⋮", NAME, SOFT)
        else:
            piece = slice(head * d_head, (head + 1) * d_head)
            card = _owned(sheet, values[:, piece], owners[:, piece], x_heads, y, most=most, cell=cell)
            sheet.text(card.x, card.top + 0.05, f"head {head}", LABEL, HEADS[head % len(HEADS)], ha="left", va="bottom")
            right = card.right
        y -= step
    low = y + step
    again = _owned(sheet, values, owners, right + 1.0, 0, most=most, cell=cell)
    half = whole.height / 2
    sheet.arrow((whole.right + 0.12, half), (x_heads - 0.14, half), "split")
    sheet.arrow((right + 0.14, half), (again.x - 0.12, half), "merge")
    for card in (whole, again):
        sheet.text(card.x + card.width / 2, -0.1, f"(L, d_model)\n({length}, {d_model})", SHAPE, SOFT, va="top")
    sheet.text(
        (x_heads + right) / 2,
        min(low, -0.0) - 0.1,
        f"(H, L, d_head)\n({num_heads}, {length}, {d_head})",
        SHAPE,
        SOFT,
        va="top",
    )
    return sheet.done(
        f"Splitting {length} tokens of {d_model} features into {num_heads} heads of {d_head} features each, and merging them: "
        "each head gets neighboring features of every token; merging puts them back in the same order."
    )


def _owned(
    sheet: Table, values: Tensor, owners: Tensor, x: float, y: float, rows: Sequence[str] | None = None,
    most: int = MOST, cell: float = CELL,
) -> Card:  # fmt: skip
    """A card whose cells have the color of what they belong to."""
    card = sheet.card(values * 0, x, y, rows=rows, most=most, write=False, cell=cell)
    for row in card.rows:
        for column in card.columns:
            if row is not None and column is not None:
                left, bottom, width, height = card.box(row, column)
                color = HEADS[int(owners[row, column]) % len(HEADS)]
                sheet.cell(left, bottom, width, height, float(values[row, column]), color)
    return card
