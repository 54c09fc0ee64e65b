"""One write to a state and one read: the outer product of a key and a value, or of what the delta rule leaves of it."""

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from ..arguments import require_shape
from .grids import GridDrawing
from .palette import CELL, LABEL, NAME, SOFT

GAP, MOST = 0.6, 3  # inches between grids; rows and columns of a state


def state_write(
    state: Float[Tensor, "d_k d_v"],
    key: Float[Tensor, " d_k"],
    value: Float[Tensor, " d_v"],
    query: Float[Tensor, " d_k"] | None = None,
    *,
    delta: bool = False,
) -> Axes:
    """The state before, what is written, the state after; then what a query reads.

    Args:
        state: At most 3 rows and 3 columns.
        key: Says to which rows how much of the value goes.
        value: What is written; with ``delta`` only its difference from what the key reads so far.
        query: Reads the state after the write; None: nothing is read.
        delta: Write by the delta rule with a beta of 1.

    Source:
        Schlag et al., "Linear Transformers Are Secretly Fast Weight Programmers", 2021, section 4.2.
    """
    require_shape("state", state, "d_k d_v")
    d_k, d_v = state.shape
    sizes = {"key": (key, d_k), "value": (value, d_v)} | ({} if query is None else {"query": (query, d_k)})
    for name, (vector, size) in sizes.items():
        if vector.shape != (size,):
            raise ValueError(f"{name} has shape {tuple(vector.shape)}; for a state {(d_k, d_v)} it must be ({size},)")
    if max(d_k, d_v) > MOST:
        raise ValueError(f"state has shape {(d_k, d_v)}; at most {MOST} rows and columns can be drawn")
    found = key @ state
    written = value - found if delta else value
    after, name = state + key[:, None] * written, "v − k S" if delta else "v"
    draw, limit = GridDrawing(), float(max(x.abs().max() for x in (state, key, value, written, after)))
    write = [("", state, "cache", "S before"), ("+", key[:, None], "key", "kᵀ"), ("×", written[None], "value", name)]
    write.append(("=", after, "cache", "S after"))
    told = f"The key {_text(key)} writes {'the difference ' if delta else ''}{_text(written)}; the state becomes {_rows(after)}."
    if query is not None:
        write += [("then", query[None], "query", "q"), ("@ S =", (query @ after)[None], "output", "q S")]
        told += f" The query {_text(query)} reads {_text(query @ after)}."
    _row(draw, 0.0, d_k, write, limit)
    if delta:
        read = [("", key[None], "key", "k"), ("@", state, "cache", "S before"), ("=", found[None], "output", "k S")]
        difference = [("then", value[None], "value", "v"), ("−", found[None], "output", "k S")]
        _row(draw, d_k * CELL + 0.7, d_k, [*read, *difference, ("=", written[None], "value", name)], limit)
    return draw.finish(f"The state {_rows(state)}. {told}")


def _row(draw: GridDrawing, y: float, d_k: int, cards: list[tuple[str, Tensor, str, str]], limit: float) -> None:
    """Grids beside one another on one scale of colors, with the sign before each."""
    x, middle = 0.0, y + d_k * CELL / 2
    for sign, values, role, name in cards:
        draw.text(x - GAP / 2, middle, sign, NAME if len(sign) < 2 else LABEL, SOFT)
        grid = draw.grid(values, x, middle - len(values) * CELL / 2, role, name=name, limit=limit)
        x += max(grid.width, draw.width_of(name, NAME)) + GAP


def _text(vector: Tensor) -> str:
    return "(" + ", ".join(f"{number:g}" for number in vector.tolist()) + ")"


def _rows(state: Tensor) -> str:
    return " over ".join(map(_text, state))
