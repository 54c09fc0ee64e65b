"""Multi-head attention drawn once, whole: a column a head, from the input to the sum of what the heads add."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from ..multi_head import MultiHeadAttention, split_heads
from .formatting import cell_number, checked_labels, shortened
from .grids import GridDrawing
from .operations import HEAD_COLORS
from .palette import COLORS, DIVERGING, INK, LABEL, NAME, NUMBER, OPERATION, SHAPE, SOFT

MAX_HEADS, MAX_TOKENS = 4, 6
CELL, LINE, THICK = 0.3, 0.13, 0.5  # inches: a weight, a token's row, a block of the output projection
GAP = 0.24  # inches, between two heads
WRITTEN = 0.05  # smaller weights are only shaded


class Strips(GridDrawing):
    """A drawing that wide tensors can be laid on: cells too thin for numbers, so that a column of color is a feature."""

    def strip(
        self, values: Tensor, x: float, y: float, width: float, height: float, limit: float, color: str = INK
    ) -> None:
        """A matrix between ``-limit`` (blue) and ``limit`` (red) in a frame."""
        left, bottom = self._offset + x, self._offset + y
        self.ax.imshow(
            values.tolist(), cmap=mpl.colormaps[DIVERGING], vmin=-limit, vmax=limit, aspect="auto", zorder=3,
            extent=(left, left + width, bottom, bottom + height), interpolation="nearest",
        )  # fmt: skip
        self._rectangle(x, y, width, height, facecolor="none", edgecolor=color, lw=1.8, zorder=5)

    def named(self, y: float, name: str, shape: str, color: str = INK, x: float = 0.0) -> None:
        """What a line of the picture is, at its left."""
        self.text(x - 0.3, y + 0.02, name, LABEL, color, ha="right", va="bottom", weight="bold")
        self.text(x - 0.3, y - 0.02, shape, SHAPE, SOFT, ha="right", va="top")


@torch.no_grad()
def multi_head(
    layer: MultiHeadAttention,
    query: Float[Tensor, "L_q d_model"],
    memory: Float[Tensor, "L_k d_model"],
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
) -> Axes:
    """One call of a layer: X and M, their slices for each head, and in a column for each head its weights, what it found,
    its block of the output projection and what it adds; below, the sum.

    Args:
        layer: At most 4 heads; without shared keys and values and without rotary positions.
        query: Of at most 6 tokens.
        memory: The same; ``query`` again for self-attention.
        queries: A text for each query.
        keys: A text for each key.
    """
    heads, (d_model, d_head) = layer.num_heads, (layer.d_model, layer.d_head)
    if layer.num_kv_heads != heads or layer.rotary is not None or heads > MAX_HEADS:
        raise ValueError(
            f"layer must have at most {MAX_HEADS} heads, each with keys and values of its own, and no rotary positions"
        )
    if max(len(query), len(memory)) > MAX_TOKENS:
        raise ValueError(f"query and memory have {len(query)} and {len(memory)} tokens; at most {MAX_TOKENS} fit")
    queries, keys = (
        names and [shortened(name, 6) for name in checked_labels(names, len(of), what)]
        for names, of, what in ((queries, query, "queries"), (keys, memory, "keys"))
    )
    q = split_heads(layer.q_proj(query[None]), heads)[0]  # (H, L_q, d_head)
    k, v = (made[0] for made in layer.project_key_value(memory[None], memory[None]))  # (H, L_k, d_head) each
    weights = (q @ k.mT / d_head**0.5).softmax(-1)  # (H, L_q, L_k)
    found = weights @ v  # (H, L_q, d_head)
    blocks = layer.o_proj.weight.T.unflatten(0, (heads, d_head))  # (H, d_head, d_model)
    terms = found @ blocks  # (H, L_q, d_model)
    output = layer(query[None], memory[None], memory[None])[0]  # (L_q, d_model)

    draw, column = Strips(), max(CELL * len(memory), 1.75)
    wide, step = heads * (column + GAP) - GAP, column + GAP
    places = [head * step for head in range(heads)]
    y = _inputs(draw, query, memory, (q, k, v), max(wide, 5.4))
    y -= (0.42 if keys is None else 0.55 + max(map(draw.width_of, keys))) + CELL * len(query)
    for head, x in enumerate(places):
        color, left = _color(head), x + (column - CELL * len(memory)) / 2
        where = {"rows": queries if head == 0 else None, "columns": keys}
        grid = draw.grid(weights[head], left, y, "weights", shades=True, limit=1.0, write=False, cell=CELL, **where)
        draw._rectangle(left, y, grid.width, grid.height, facecolor="none", edgecolor=color, lw=2.4, zorder=6)
        for row, column_at in (weights[head] >= WRITTEN).nonzero().tolist():
            value = weights[head, row, column_at].item()
            box = grid.box(row, column_at)
            ink = "white" if value > 0.6 else INK
            draw.text(box[0] + CELL / 2, box[1] + CELL / 2, cell_number(round(value, 2)), NUMBER, ink)
    room = max(map(draw.width_of, queries or [""]))  # for the queries' names, left of the first table
    draw.named(y + CELL * len(query) / 2, "weights", f"{heads} × {tuple(weights.shape[1:])}", COLORS["weights"], -room)
    tall = max(LINE * len(query), 0.22)
    y = _columns(draw, places, column, y, "@ its slice of V", tall, found, 0.75)
    draw.named(y + tall / 2, "what it found", f"{heads} × {tuple(found.shape[1:])}")
    y = _columns(draw, places, column, y, "@ its block of W_o", THICK, blocks, 1.0)
    draw.named(y + THICK / 2, "blocks of W_o", f"{heads} × {tuple(blocks.shape[1:])}")
    y = _columns(draw, places, column, y, "=", tall, terms, 1.0, float(output.abs().max()))
    draw.named(y + tall / 2, "what it adds", f"{heads} × {tuple(terms.shape[1:])}")
    for x in places[1:]:
        draw.text(x - GAP / 2, y + tall / 2, "+", OPERATION + 2, weight="bold")
    y = _sum(draw, places, column, y, tall, output)
    draw.named(y + tall / 2, "output", f"{tuple(output.shape)}", COLORS["output"])
    return draw.finish(_alt(weights, queries, keys, d_model, d_head))


def _color(head: int) -> str:
    return HEAD_COLORS[head % len(HEAD_COLORS)]


def _inputs(draw: Strips, query: Tensor, memory: Tensor, parts: tuple[Tensor, ...], wide: float) -> float:
    """X and M, and under them Q, K and V with a frame a head; returns the lower edge."""
    part_wide = (wide - 2 * 0.5) / 3
    lefts = [i * (part_wide + 0.5) for i in range(3)]
    tall_q, tall_k = (max(LINE * len(t), 0.22) for t in (query, memory))
    limit = max(float(query.abs().max()), float(memory.abs().max()))
    between = (lefts[1] + lefts[2]) / 2
    draw.strip(query, lefts[0], 0, part_wide, tall_q, limit)
    draw.strip(memory, between, 0, part_wide, tall_k, limit)
    for name, tensor, x, tall in (("X", query, lefts[0], tall_q), ("M", memory, between, tall_k)):
        draw.text(x + part_wide / 2, tall + 0.08, f"{name}  {tuple(tensor.shape)}", LABEL, va="bottom", weight="bold")
    limit = max(float(part.abs().max()) for part in parts)
    y = -0.62 - max(tall_q, tall_k)
    for letter, part, x in zip("qkv", parts, lefts, strict=True):
        tall = max(LINE * part.shape[1], 0.22)
        top = y + tall
        start = x + part_wide / 2 if letter == "q" else between + part_wide * (0.25 if letter == "k" else 0.75)
        draw.arrow((start, -0.06), (x + part_wide / 2, top + 0.07))
        draw.text(x + part_wide / 2 + (-0.12 if letter == "k" else 0.12), top + 0.32, f"W_{letter}", OPERATION,
                  ha="right" if letter == "k" else "left")  # fmt: skip
        for head, values in enumerate(part):
            each = part_wide / len(part)
            draw.strip(values, x + head * each, y, each, tall, limit, _color(head))
        shape = (part.shape[1], part.shape[0] * part.shape[2])
        draw.text(x + part_wide / 2, y - 0.08, f"{letter.upper()}  {shape}", LABEL, va="top",
                  weight="bold")  # fmt: skip
    draw.named(y + 0.3, "a slice a head", f"{len(parts[0])} × {parts[0].shape[2]} features")
    low = y - 0.42
    for head in range(len(parts[0])):
        column = (wide + GAP) / len(parts[0])
        draw.text(head * column + (column - GAP) / 2, low, f"head {head}", NAME, _color(head), va="top", weight="bold")
    return low - 0.1


def _columns(
    draw: Strips, places: list[float], column: float, y: float, text: str, tall: float, parts: Tensor, share: float,
    limit: float | None = None,
) -> float:  # fmt: skip
    """An arrow down and a strip for each head; returns the lower edge."""
    limit = float(parts.abs().max()) if limit is None else limit
    low = y - 0.46 - tall
    for head, x in enumerate(places):
        middle = x + column / 2
        draw.arrow((middle, y - 0.06), (middle, low + tall + 0.05))
        draw.text(middle + 0.1, y - 0.22, text, SHAPE, SOFT, ha="left")
        draw.strip(parts[head], middle - share * column / 2, low, share * column, tall, limit, _color(head))
    return low


def _sum(draw: Strips, places: list[float], column: float, y: float, tall: float, output: Tensor) -> float:
    """The output under all that was added; returns its lower edge."""
    middle = (places[0] + places[-1] + column) / 2
    low = y - 0.62 - tall
    for x in places:
        draw.line([(x + column / 2, y - 0.05), (x + column / 2, y - 0.2), (middle, y - 0.2)], SOFT, 1.2)
    draw.arrow((middle, y - 0.2), (middle, low + tall + 0.05))
    draw.text(middle + 0.1, y - 0.38, "sum, and the bias", SHAPE, SOFT, ha="left")
    draw.strip(output, middle - column / 2, low, column, tall, float(output.abs().max()), COLORS["output"])
    return low


def _alt(weights: Tensor, queries: list[str] | None, keys: list[str] | None, d_model: int, d_head: int) -> str:
    heads, length, memory = weights.shape
    queries, keys = queries or [f"query {i}" for i in range(length)], keys or [f"key {j}" for j in range(memory)]
    said = []
    for head in range(heads):
        strongest = ", ".join(f"{queries[i]} at {keys[int(weights[head, i].argmax())]}" for i in range(length))
        said.append(f"head {head} looks most {strongest}")
    return (
        f"Multi-head attention whole: X and M times three matrices give Q, K and V of {d_model} features; each of the "
        f"{heads} heads gets a slice of {d_head}, has its own table of weights, finds an average of its values, sends it "
        f"through its own block of W_o, and the results are added up. {'; '.join(said)}."
    )
