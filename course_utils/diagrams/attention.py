"""One attention in grids: its flow, and a token in its three roles."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from torch import Tensor

from ..attention import masked_softmax
from .formatting import allowed_mask, checked_labels, equals, first_matrix, number, number_sum, shortened, stack_size
from .grids import GridDrawing
from .palette import CELL, COLORS, LABEL, NAME, OPERATION, SHAPE, SMALL, SOFT

GAP = 0.6
MAX_FLOW = 8
VERBS = {"query": "asks with", "key": "is found by", "value": "hands over"}


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
    it cross. V and the output share one scale of color. What a mask hides is hatched: scores, and keys and values that no
    query may look at. Of a batch or of heads the first is drawn, on a stack.

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
    (q, leading), (k, _), (v, _) = (first_matrix(t, n) for t, n in ((query, "query"), (key, "key"), (value, "value")))
    if q.shape[1] != k.shape[1] or len(k) != len(v):
        shapes = ", ".join(f"{n} {tuple(t.shape)}" for n, t in (("query", q), ("key", k), ("value", v)))
        raise ValueError(f"query and key must have equally many features, key and value equally many rows: {shapes}")
    scale = 1 / math.sqrt(q.shape[1]) if scale is None else scale
    scores = scale * q @ k.T  # (L_q, L_k)
    allowed = allowed_mask(mask, scores).expand(*leading, *scores.shape).reshape(-1, *scores.shape)[0]
    weights = masked_softmax(scores, allowed)
    output = weights @ v  # (L_q, d_v)
    row, feature = follow if follow is not None else (len(q) - 1, 0)
    if not (0 <= row < len(q) and 0 <= feature < v.shape[1]):
        raise ValueError(
            f"follow ({row}, {feature}) must be a cell of the output, which has shape {tuple(output.shape)}"
        )
    queries, keys = checked_labels(queries, len(q), "queries"), checked_labels(keys, len(k), "keys")

    draw, stack = GridDrawing(), stack_size(leading)
    large = max(*q.shape, *v.shape) > MAX_FLOW
    options = {"stack": stack, "cell": SMALL if large else CELL, "most": MAX_FLOW}
    strongest = int(weights[row].argmax())
    left, right = (
        max((draw.width_of(shortened(text)) for text in texts or ()), default=0.0) for texts in (queries, keys)
    )
    depth = 0.07 * (min(stack, 4) - 1)  # by which the grids behind stand out
    unseen = ~allowed.any(dim=0)  # (L_k,), keys that no query may look at
    batch = "".join(f"{size}, " for size in leading)
    compared, mixed = _largest(q, k), _largest(v[~unseen])  # one scale of shades each: Q and K, V and the output

    def shape(n: int, m: int, names: str) -> str:
        return f"({batch}{n}, {m})\n{names}"

    grid_q = draw.grid(
        q, 0, 0, "query", name="Q", shape=shape(*q.shape, "L_q, d_k"), rows=queries, limit=compared, **options
    )
    x = max(grid_q.right, grid_q.width / 2 + 0.5) + GAP + depth
    grid_s = draw.grid(
        scores, x, 0, "scores", name="scores", shape=shape(*scores.shape, "L_q, L_k"), struck=~allowed, **options
    )
    above = grid_s.top + 0.25 + depth
    grid_k = draw.grid(k.T, x, above, "key", columns=keys, struck=unseen.expand(k.T.shape), limit=compared, **options)
    middle = grid_k.y + grid_k.height / 2
    draw.text(grid_k.x - 0.15, middle + 0.02, "K turned", NAME, COLORS["key"], ha="right", va="bottom", weight="bold")
    draw.text(grid_k.x - 0.15, middle - 0.02, shape(*k.T.shape, "d_k, L_k"), SHAPE, SOFT, ha="right", va="top")
    half, crossing = grid_s.height / 2, (grid_q.right + depth + grid_s.x) / 2
    draw.text(crossing, half, "@", OPERATION + 3)
    draw.text(crossing, half - 0.22, f"× {number(scale)}" if scale != 1 else "", SHAPE, SOFT)
    x = grid_s.right + depth + 1.35
    draw.arrow((grid_s.right + depth + 0.12, half), (x - 0.08, half))
    draw.text(
        (grid_s.right + depth + x) / 2,
        half + 0.08,
        "mask, softmax\nover keys" if mask is not None else "softmax\nover keys",
        va="bottom",
    )
    grid_w = draw.grid(
        weights, x, 0, "weights", name="weights", shape=shape(*weights.shape, "L_q, L_k"), columns=keys, hidden=~allowed,
        shades=True, limit=1.0, **options,
    )  # fmt: skip
    x = grid_w.right + depth + max(GAP, right + 0.3)
    draw.text((grid_w.right + depth + x) / 2, half, "@", OPERATION + 3)
    grid_o = draw.grid(
        output, x, 0, "output", name="output", shape=shape(*output.shape, "L_q, d_v"), limit=mixed, **options
    )
    grid_v = draw.grid(
        v,
        x,
        above,
        "value",
        name="V",
        shape=shape(*v.shape, "L_k, d_v").replace("\n", "  "),
        rows=keys,
        below=False,
        struck=unseen[:, None].expand(v.shape),
        limit=mixed,
        **options,
    )
    _frames(draw, (grid_q, grid_k, grid_s, grid_w, grid_v, grid_o), row, strongest, feature)
    who = f"“{shortened(queries[row])}”" if queries else f"query {row}"
    whom = f"“{shortened(keys[strongest])}”" if keys else f"key {strongest}"
    dot = number_sum(list(zip(q[row].tolist(), k[strongest].tolist(), strict=True)))
    used = [(w, x) for w, x in zip(weights[row].tolist(), v[:, feature].tolist(), strict=True) if w]
    score = float(scores[row, strongest])
    lines = [
        f"score of {who} with {whom}:  {dot};  × {number(scale)} {equals(scale, score)} {number(score)}",
        f"output of {who}, feature {feature}:  {number_sum(used) if used else 'nothing may be looked at: 0'}",
    ]
    for place, line in enumerate(lines):
        draw.text(-left - 0.08, -1.0 - 0.26 * place, line, LABEL, ha="left")
    hidden = int((~allowed).sum())
    masked = f"{hidden} of them are masked; " if hidden else ""
    alt = (
        f"Attention as a flow of cards. Q {tuple(q.shape)} times K turned gives scores {tuple(scores.shape)}; {masked}"
        f"a softmax over the keys gives the weights; they mix the rows of V {tuple(v.shape)} into the output "
        f"{tuple(output.shape)}. {lines[0]}. {lines[1]}. {who} looks most at {whom}, weight "
        f"{number(float(weights[row, strongest]))}."
    )
    return draw.finish(alt)


def _frames(draw: GridDrawing, grids, row: int, strongest: int, feature: int) -> None:
    query, key, scores, weights, value, output = grids
    draw.mark(query, row=row)
    draw.mark(key, column=strongest)
    draw.mark(scores, row=row, column=strongest)
    draw.mark(weights, row=row)
    draw.mark(value, column=feature)
    draw.mark(output, row=row, column=feature)


def _largest(*tensors: Tensor) -> float:
    """The largest size of a finite number in any of them; 1 if there is none but 0."""
    sizes = torch.cat([tensor.detach().double().flatten() for tensor in tensors]).abs()
    return float(sizes[sizes.isfinite()].max()) or 1.0 if sizes.isfinite().any() else 1.0


def three_roles(
    x: Float[Tensor, "L d_model"],
    w_q: Float[Tensor, "d_model d_k"],
    w_k: Float[Tensor, "d_model d_k"],
    w_v: Float[Tensor, "d_model d_v"],
    *,
    tokens: Sequence[str] | None = None,
    follow: int = 0,
) -> Axes:
    """X times each of its three matrices: a token's row in X becomes its query, its key and its value.

    ``tokens`` are a text for each row of ``x``; ``follow`` is the row that is framed and written out.
    """
    matrices = {"query": w_q, "key": w_k, "value": w_v}
    for name, w in matrices.items():
        if first_matrix(w, name)[0].shape[0] != x.shape[1]:
            raise ValueError(
                f"the matrix of the {name} {tuple(w.shape)} must have as many rows as x {tuple(x.shape)} columns"
            )
    tokens = checked_labels(tokens, len(x), "tokens")
    draw, clauses = GridDrawing(), []
    made = {name: x.double() @ w.double() for name, w in matrices.items()}
    vectors, weights = _largest(x, *made.values()), _largest(*matrices.values())  # one scale of shades each
    grid = draw.grid(x, 0, 0, "plain", name="X", shape=f"{tuple(x.shape)}\nL, d_model", rows=tokens, limit=vectors)
    draw.mark(grid, row=follow)
    place, above = grid.right + 0.85, grid.top + 0.35
    for name, w in matrices.items():
        letter = name[0]
        options = {"name": letter.upper(), "shape": f"{tuple(made[name].shape)}\nL, d_{'v' if letter == 'v' else 'k'}"}
        role = draw.grid(made[name], place, 0, name, limit=vectors, **options)
        draw.text(place - 0.43, grid.height / 2, "@" if name == "query" else "X @", OPERATION + 3)
        draw.mark(role, row=follow)
        top = draw.grid(w, place, above, name, limit=weights)
        middle = top.y + top.height / 2
        draw.text(
            top.x - 0.12, middle + 0.02, f"W_{letter}", NAME, COLORS[name], ha="right", va="bottom", weight="bold"
        )
        draw.text(top.x - 0.12, middle - 0.02, str(tuple(w.shape)), SHAPE, SOFT, ha="right", va="top")
        row = ", ".join(number(value) for value in made[name][follow].tolist())
        clauses.append(f"{VERBS[name]} {row if len(w.T) == 1 else f'({row})'}")
        place = role.right + 1.15
    who = f"“{shortened(tokens[follow])}”" if tokens else f"token {follow}"
    line = f"{who} {', '.join(clauses[:2])} and {clauses[2]}"
    draw.text(0, -1.0, line, LABEL, ha="left")
    return draw.finish(
        f"X {tuple(x.shape)} times three matrices gives queries, keys and values, one row a token. {line}."
    )
