"""The widget of lesson 15: ring attention step by step, who holds what, what is computed, who waits."""

import math
from collections.abc import Iterator

import ipywidgets
import torch
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from torch import Tensor

from course_utils import plotting
from course_utils.distributed.layouts import Layout, layout
from course_utils.distributed.ring_attention import Ring
from course_utils.distributed.simulation import work_table

from .live_figure import WIDE, LiveFigure

LENGTH = 48  # tokens, a multiple of twice each number of ranks
RANKS = (2, 3, 4, 6, 8)
LAYOUTS = ("contiguous", "zigzag", "striped")
HIDDEN, LATER, EARLIER = (0.84, 0.84, 0.84), (1.0, 1.0, 1.0), 0.45
SHADES = [*plotting.COLORS, "0.35", "#7f5200"]  # one for each rank


def ring_steps() -> LiveFigure:
    """All ranks of a ring in one step: the scores in the text's own order, who holds whose keys, and the work of each.

    A rank has a color. In the scores its rows are strong where it computes in this step, pale where it has computed before, white
    where it still will, gray where a causal mask hides it, hatched where that's computed anyway. For lesson 15.

    Source:
        Liu, Zaharia, Abbeel, "Ring Attention with Blockwise Transformers for Near-Infinite Context", 2023, section 3; Brandon et
        al., "Striped Attention", 2023, section 3.
    """

    def draw(figure: Figure, ranks: int, step: int, order: str, causal: bool) -> None:
        ring, now, last = Ring(layout(order, LENGTH, ranks), causal=causal), min(step, ranks - 1), ranks - 1
        scores, circle = figure.add_axes((0.06, 0.12, 0.38, 0.76)), figure.add_axes((0.46, 0.4, 0.3, 0.54))
        bars = figure.add_axes((0.8, 0.14, 0.18, 0.74))
        draw_scores(scores, ring, now)
        scores.set_title(f"step {now}, the last is step {last}", fontsize=10)
        draw_circle(circle, ranks, now)
        work = work_table(ring)  # (ranks, steps)
        for rank in range(ranks):
            done, this = int(work[rank, :now].sum()), int(work[rank, now])
            bars.barh(rank, done, color=SHADES[rank], alpha=EARLIER)
            bars.barh(rank, this, left=done, color=SHADES[rank])
        bars.set(xlabel="pairs computed", yticks=range(ranks), ylim=(ranks - 0.5, -0.5))
        bars.set_yticklabels([f"rank {rank}" for rank in range(ranks)], fontsize=8)
        bars.set_xlim(0, 1.05 * LENGTH**2 / ranks)  # a rank's pairs without a mask: the same for all layouts
        time = int(work[:, : now + 1].max(dim=0).values.sum())  # in each step all wait for the slowest
        figure.text(0.485, 0.31, time_so_far(time, done=now == last), fontsize=10)
        name_shades(figure, (0.475, 0.02), columns=1, causal=causal, done=now == last)

    controls = {
        "ranks": ipywidgets.Dropdown(options=RANKS, value=4, description="ranks", **WIDE),
        "step": ipywidgets.IntSlider(1, min=0, max=3, description="step", **WIDE),
        "order": ipywidgets.Dropdown(options=LAYOUTS, description="layout", **WIDE),
        "causal": ipywidgets.Checkbox(False, description="causal mask", **WIDE),
    }
    ranks, step = controls["ranks"], controls["step"]
    ranks.observe(lambda change: setattr(step, "max", change["new"] - 1), "value")  # a ring has as many steps as ranks
    return LiveFigure("ring attention, step by step", draw, controls, (9.4, 4.2))


def time_so_far(time: int, *, done: bool) -> str:
    """What the widget says of the time, in pairs of the rank that has most to do in each step."""
    so_far = f"done in the time of {time} pairs," if done else f"time so far: {time} pairs,"
    return f"{so_far}\nif all wait after each step"


def draw_scores(ax: Axes, ring: Ring, now: int) -> None:
    """All pairs of a query and a key by position in the text, when step ``now`` (from 0) is computed; a number: in which step."""
    colors, computed = colors_of_pairs(ring, now)
    ax.imshow(colors.numpy(), interpolation="nearest")
    if ring.causal:
        hidden = computed.triu(1).repeat_interleave(4, 0).repeat_interleave(4, 1)  # four dots a pair, for edges
        edges = (-0.5, ring.layout.L - 0.5, -0.5, ring.layout.L - 0.5)
        hatched = ax.contourf(hidden.float().numpy(), [0.5, 1.5], colors="none", hatches=["/////"], extent=edges)
        hatched.set(edgecolor="0.35", linewidth=0)
    chunks = [chunk for rank in ring.layout.chunks for chunk in rank if chunk.step == 1]
    for chunk in chunks:
        ax.axhline(chunk.start - 0.5, color="white", lw=1), ax.axvline(chunk.start - 0.5, color="white", lw=1)
    label_chunks(ax, ring.layout)
    if 0 < len(chunks) <= 8:  # else squares are too small for a number, and stripes always
        number_steps(ax, ring, now)


def computed_tiles(ring: Ring, now: int) -> Iterator[tuple[int, int, Int[Tensor, " q"], Int[Tensor, " k"]]]:
    """What is computed up to step ``now``: the rank, the step, and the positions of the queries and of the keys that meet."""
    for rank in range(ring.layout.P):
        queries = ring.layout.positions(rank)
        for step in range(now + 1):
            keys = ring.layout.positions((rank - step) % ring.layout.P)
            for tile in ring.tiles(rank, step):
                yield rank, step, queries[tile.queries], keys[tile.keys]


def number_steps(ax: Axes, ring: Ring, now: int) -> None:
    """Write on each square of the scores the step in which it is computed, up to step ``now``."""
    for rank, step, queries, keys in computed_tiles(ring, now):
        face = strong_and_pale(rank)[0 if step == now else 1].tolist()  # around the number there's no hatching
        style = {"color": "white" if step == now else "0.2", "bbox": {"fc": face, "ec": "none", "pad": 1.5}}
        middle = keys.double().mean().item(), queries.double().mean().item()
        ax.text(*middle, str(step), ha="center", va="center", **style)


def name_shades(figure: Figure, corner: tuple[float, float], columns: int, *, causal: bool, done: bool) -> None:
    """What strong, pale, gray and hatched pairs are, and white ones unless all is ``done``; ``corner``: the lower left one."""
    strong, pale = strong_and_pale(0).tolist()
    kinds = {"computed now": {"fc": strong}, "computed before": {"fc": pale}}
    kinds |= {} if done else {"still to come": {"fc": LATER}}
    if causal:
        kinds |= {"hidden": {"fc": HIDDEN}, "hidden, computed anyway": {"fc": pale, "hatch": "/////"}}
    shades = [Patch(ec="0.35", lw=0.6, label=name, **style) for name, style in kinds.items()]
    figure.legend(handles=shades, loc="lower left", bbox_to_anchor=corner, ncols=columns, fontsize=8, frameon=False)


def strong_and_pale(rank: int) -> Float[Tensor, "2 3"]:
    """A rank's color, and the one of what it computed in an earlier step."""
    strong = torch.tensor(to_rgb(SHADES[rank]))
    return torch.stack([strong, 1 - EARLIER * (1 - strong)])


def colors_of_pairs(ring: Ring, now: int) -> tuple[Float[Tensor, "L L 3"], Bool[Tensor, "L L"]]:
    """The color of each pair, and whether it has been computed by the end of step ``now``."""
    length = ring.layout.L
    colors, computed = (
        torch.tensor(LATER).expand(length, length, 3).clone(),
        torch.zeros(length, length, dtype=torch.bool),
    )
    if ring.causal:
        colors[torch.ones(length, length, dtype=torch.bool).triu(1)] = torch.tensor(HIDDEN)
    for rank, step, queries, keys in computed_tiles(ring, now):
        pairs = queries[:, None], keys
        colors[pairs], computed[pairs] = strong_and_pale(rank)[0 if step == now else 1], True
    return colors, computed


def label_chunks(ax: Axes, of: Layout) -> None:
    """Name at both axes of the scores the rank of each chunk of neighbors; stripes are too narrow for that."""
    middles = chunk_middles(of)
    for axis, what in ((ax.xaxis, "keys"), (ax.yaxis, "queries")):
        axis.set_ticks(list(middles), [str(rank) for rank in middles.values()], fontsize=8)
        axis.set_label_text(f"{what} in text order; number: rank that holds them", fontsize=8)


def chunk_middles(of: Layout) -> dict[float, int]:
    """The middle of each chunk of neighbors, by position in the text, and the rank that holds it; none for stripes."""
    neighbors = [(chunk, rank) for rank in range(of.P) for chunk in of.chunks[rank] if chunk.step == 1]
    return {(chunk.start + chunk.stop - 1) / 2: rank for chunk, rank in neighbors}


def colored_tokens(of: Layout) -> Float[Tensor, "L 3"]:
    """For each place of the text the color of the rank that holds it."""
    colors = torch.empty(of.L, 3)
    for rank in range(of.P):
        colors[of.positions(rank)] = torch.tensor(to_rgb(SHADES[rank]))
    return colors


def draw_circle(ax: Axes, ranks: int, now: int) -> None:
    """The ranks on a circle, each with the owner of the keys and values that it holds."""
    places = [(math.sin(2 * math.pi * r / ranks), math.cos(2 * math.pi * r / ranks)) for r in range(ranks)]
    for rank, (x, y) in enumerate(places):
        to = places[(rank + 1) % ranks]
        style = {"arrowstyle": "->", "color": "0.5", "shrinkA": 14, "shrinkB": 14, "connectionstyle": "arc3,rad=-0.2"}
        ax.annotate("", to, (x, y), arrowprops=style)
        ax.plot([x], [y], "o", ms=24, color=SHADES[rank])
        ax.text(x, y, str(rank), color="white", ha="center", va="center", fontsize=10, weight="bold")
        holder = SHADES[(rank - now) % ranks]
        ax.plot([1.42 * x], [1.42 * y], "s", ms=14, color=holder)
        ax.text(1.42 * x, 1.42 * y, str((rank - now) % ranks), color="white", ha="center", va="center", fontsize=8)
    ax.set(xlim=(-1.75, 1.75), ylim=(-1.75, 1.75), aspect="equal", xticks=[], yticks=[])
    ax.set_title("circle: rank, square: whose keys it holds", fontsize=9)
    ax.spines[:].set_visible(False)
