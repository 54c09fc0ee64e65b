"""Attention as a flow of cards: a cell sits where its row and its column cross."""

import math
from collections.abc import Sequence

from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from torch import Tensor

from ..attention import masked_softmax
from .cards import Table
from .palette import CELL, LABEL, NAME, OPERATION, ROLES, SHAPE, SMALL, SOFT
from .words import labels, matrix, number, number_sum, short, stacked, true_where

GAP = 0.6
MOST = 8


def attention_flow(
    query: Float[Tensor, "*batch L_q d_k"],
    key: Float[Tensor, "*batch L_k d_k"],
    value: Float[Tensor, "*batch L_k d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    scale: float | None = None,
    follow: tuple[int, int] | None = None,
) -> Axes:
    """Q, K, V, the scores, the mask, the weights and the output of one attention, and one cell of it worked out.

    K stands turned above the scores and V above the output, so that each cell sits where the row and the column that make
    it cross. Of a batch or of heads the first is drawn, on a stack.

    Args:
        query: As for ``scaled_dot_product_attention``.
        key: The same.
        value: The same.
        mask: True where a query may look; broadcast to ``(*batch, L_q, L_k)``.
        queries: A text for each query.
        keys: A text for each key.
        scale: What the scores are multiplied by; None: ``1 / sqrt(d_k)``.
        follow: Row and feature of the output whose making is framed and written out; None: the last query's first feature.
    """
    (q, leading), (k, _), (v, _) = (matrix(t, n) for t, n in ((query, "query"), (key, "key"), (value, "value")))
    if q.shape[1] != k.shape[1] or len(k) != len(v):
        shapes = ", ".join(f"{n} {tuple(t.shape)}" for n, t in (("query", q), ("key", k), ("value", v)))
        raise ValueError(f"query and key must have equally many features, key and value equally many rows: {shapes}")
    scale = 1 / math.sqrt(q.shape[1]) if scale is None else scale
    scores = scale * q @ k.T  # (L_q, L_k)
    allowed = true_where(mask, scores).expand(*leading, *scores.shape).reshape(-1, *scores.shape)[0]
    weights = masked_softmax(scores, allowed)
    output = weights @ v  # (L_q, d_v)
    row, feature = follow if follow is not None else (len(q) - 1, 0)
    if not (0 <= row < len(q) and 0 <= feature < v.shape[1]):
        raise ValueError(
            f"follow ({row}, {feature}) must be a cell of the output, which has shape {tuple(output.shape)}"
        )
    queries, keys = labels(queries, len(q), "queries"), labels(keys, len(k), "keys")

    sheet, many = Table(), stacked(leading)
    large = max(*q.shape, *v.shape) > MOST
    how = {"stack": many, "cell": SMALL if large else CELL, "most": MOST}
    looked = int(weights[row].argmax())
    left, right = (max((sheet.width_of(short(text)) for text in texts or ()), default=0.0) for texts in (queries, keys))
    depth = 0.07 * (min(many, 4) - 1)  # by which the cards behind stand out
    batch = "".join(f"{size}, " for size in leading)

    def shape(n: int, m: int, names: str) -> str:
        return f"({batch}{n}, {m})\n{names}"

    card_q = sheet.card(q, 0, 0, "query", name="Q", shape=shape(*q.shape, "L_q, d_k"), rows=queries, **how)
    x = max(card_q.right, card_q.width / 2 + 0.5) + GAP + depth
    card_s = sheet.card(scores, x, 0, "scores", name="scores", shape=shape(*scores.shape, "L_q, L_k"), **how)
    above = card_s.top + 0.25 + depth
    card_k = sheet.card(k.T, x, above, "key", columns=keys, **how)
    middle = card_k.y + card_k.height / 2
    sheet.text(card_k.x - 0.15, middle + 0.02, "K turned", NAME, ROLES["key"], ha="right", va="bottom", weight="bold")
    sheet.text(card_k.x - 0.15, middle - 0.02, shape(*k.T.shape, "d_k, L_k"), SHAPE, SOFT, ha="right", va="top")
    half, crossing = card_s.height / 2, (card_q.right + depth + card_s.x) / 2
    sheet.text(crossing, half, "@", OPERATION + 3)
    sheet.text(crossing, half - 0.22, f"× {number(scale)}" if scale != 1 else "", SHAPE, SOFT)
    x = card_s.right + depth + 1.35
    sheet.arrow((card_s.right + depth + 0.12, half), (x - 0.08, half))
    sheet.text(
        (card_s.right + depth + x) / 2,
        half + 0.08,
        "mask, softmax\nover keys" if mask is not None else "softmax\nover keys",
        va="bottom",
    )
    card_w = sheet.card(
        weights, x, 0, "weights", name="weights", shape=shape(*weights.shape, "L_q, L_k"), columns=keys, hidden=~allowed,
        shades=True, limit=1.0, **how,
    )  # fmt: skip
    x = card_w.right + depth + max(GAP, right + 0.3)
    sheet.text((card_w.right + depth + x) / 2, half, "@", OPERATION + 3)
    card_o = sheet.card(output, x, 0, "output", name="output", shape=shape(*output.shape, "L_q, d_v"), **how)
    card_v = sheet.card(
        v,
        x,
        above,
        "value",
        name="V",
        shape=shape(*v.shape, "L_k, d_v").replace("\n", "  "),
        rows=keys,
        below=False,
        **how,
    )
    _frames(sheet, (card_q, card_k, card_s, card_w, card_v, card_o), row, looked, feature)
    who = f"“{short(queries[row])}”" if queries else f"query {row}"
    whom = f"“{short(keys[looked])}”" if keys else f"key {looked}"
    dot = number_sum(list(zip(q[row].tolist(), k[looked].tolist(), strict=True)))
    used = [(w, x) for w, x in zip(weights[row].tolist(), v[:, feature].tolist(), strict=True) if w]
    lines = [
        f"score of {who} with {whom}:  {dot};  × {number(scale)} = {number(float(scores[row, looked]))}",
        f"output of {who}, feature {feature}:  {number_sum(used) if used else 'nothing may be looked at: 0'}",
    ]
    for place, line in enumerate(lines):
        sheet.text(-left - 0.08, -1.0 - 0.26 * place, line, LABEL, ha="left")
    hidden = int((~allowed).sum())
    masked = f"{hidden} of them are masked; " if hidden else ""
    alt = (
        f"Attention as a flow of cards. Q {tuple(q.shape)} times K turned gives scores {tuple(scores.shape)}; {masked}"
        f"a softmax over the keys gives the weights; they mix the rows of V {tuple(v.shape)} into the output "
        f"{tuple(output.shape)}. {lines[0]}. {lines[1]}. {who} looks most at {whom}, weight "
        f"{number(float(weights[row, looked]))}."
    )
    return sheet.done(alt)


def _frames(sheet: Table, cards, row: int, looked: int, feature: int) -> None:
    query, key, scores, weights, value, output = cards
    sheet.mark(query, row=row)
    sheet.mark(key, column=looked)
    sheet.mark(scores, row=row, column=looked)
    sheet.mark(weights, row=row)
    sheet.mark(value, column=feature)
    sheet.mark(output, row=row, column=feature)
