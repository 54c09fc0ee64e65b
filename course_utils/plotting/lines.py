"""Arrows, curves, runs with their spread, points: one mark for each number."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float, Shaped
from matplotlib.axes import Axes
from torch import Tensor

from .canvas import COLORS, LINE_STYLES, new_axes, new_panels, require_labels


def arrows(vectors: Float[Tensor, "n 2"], labels: Sequence[str], *, ax: Axes | None = None, title: str = "") -> Axes:
    """Vectors of the plane as arrows from the origin, both axes on one scale."""
    require_labels(labels, len(vectors), "labels")
    ax = ax or new_axes(4.4, 4.0)
    reach = max(vectors.abs().max().item(), 1.0) * 1.3
    for i, ((x, y), label) in enumerate(zip(vectors.tolist(), labels, strict=True)):
        color = COLORS[i % len(COLORS)]
        ax.annotate(
            "", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": color, "lw": 2, "shrinkA": 0, "shrinkB": 0}
        )
        side = 1 if x >= 0 else -1
        ax.annotate(
            label,
            (x, y),
            (side * 5, 5 if y >= 0 else -12),
            textcoords="offset points",
            color=color,
            ha="left" if side > 0 else "right",
        )
    ax.axhline(0, color="0.8", lw=0.8, zorder=0)
    ax.axvline(0, color="0.8", lw=0.8, zorder=0)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title=title)
    ax.set(xlabel="first coordinate", ylabel="second coordinate")
    return ax


def curves(
    x: Shaped[Tensor, " n"],
    ys: Mapping[str, Float[Tensor, " n"]],
    *,
    points: tuple[Tensor, Tensor] | None = None,
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """Curves over one axis, told apart by color and by line style, with data points behind them.

    ``ys`` maps each label to its curve, ``points`` are the ``(x, y)`` of the dots. ``xlabel`` and ``ylabel`` say what each
    axis is, with its unit.
    """
    ax = ax or new_axes()
    if points is not None:
        ax.plot(points[0].tolist(), points[1].tolist(), "o", color="0.6", ms=4, label="data", zorder=1)
    for i, (label, y) in enumerate(ys.items()):
        style = LINE_STYLES[i % len(LINE_STYLES)]
        ax.plot(x.tolist(), y.tolist(), style, color=COLORS[i % len(COLORS)], lw=1.8, label=label)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    ax.legend(frameon=False, fontsize=9)
    return ax


def runs(
    x: Shaped[Tensor, " n"],
    ys: Mapping[str, Float[Tensor, "n runs"]],
    *,
    levels: Mapping[str, Float[Tensor, " m"]] | None = None,
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """Repeated measurements over one axis: a dot for each run and a line through their means.

    ``ys`` maps each label to its runs, ``levels`` to runs that don't depend on ``x``: a gray band from the lowest to the highest.
    """
    ax = ax or new_axes(5.6, 3.6)
    for label, level in (levels or {}).items():
        ax.axhspan(level.min().item(), level.max().item(), color="0.85", label=label, zorder=0)
    means = {label: y.mean(dim=1) for label, y in ys.items()}
    curves(x, means, xlabel=xlabel, ylabel=ylabel, ax=ax, title=title)
    for i, y in enumerate(ys.values()):
        for run in y.unbind(dim=1):
            ax.plot(x.tolist(), run.tolist(), "o", color=COLORS[i % len(COLORS)], ms=3.5, alpha=0.6)
    return ax


def histograms(
    values: Mapping[str, Float[Tensor, " n"]], *, xlabel: str, ax: Axes | None = None, title: str = ""
) -> Axes:
    """How several sets of numbers are spread: an outline for each, every one of the same area."""
    ax = ax or new_axes(5.0, 3.0)
    low = min(v.min().item() for v in values.values())
    high = max(v.max().item() for v in values.values())
    edges = torch.linspace(low, high if high > low else low + 1.0, 61)
    for i, (label, v) in enumerate(values.items()):
        heights = torch.histogram(v.detach().float().cpu(), edges, density=True).hist
        color, style = COLORS[i % len(COLORS)], LINE_STYLES[i % len(LINE_STYLES)]
        ax.stairs(heights.tolist(), edges.tolist(), color=color, ls=style, lw=1.8, label=label)
    ax.set(xlabel=xlabel, ylabel="density", title=title)
    ax.legend(frameon=False, fontsize=9)
    return ax


def bands(
    x: Float[Tensor, " n"] | Sequence[str],
    runs: Mapping[str, Float[Tensor, "runs n"]],
    *,
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
) -> Axes:
    """A line for the mean of several runs over one axis, and behind it a band from the lowest run to the highest.

    ``x`` are numbers, or the names of settings, side by side. ``runs`` maps each label to its runs, one in a row.
    """
    places = x if isinstance(x, Tensor) else torch.arange(float(len(x)))
    ax = curves(places, {label: rows.mean(dim=0) for label, rows in runs.items()}, xlabel=xlabel, ylabel=ylabel, ax=ax)
    for i, rows in enumerate(runs.values()):
        low, high = rows.amin(dim=0).tolist(), rows.amax(dim=0).tolist()
        ax.fill_between(places.tolist(), low, high, color=COLORS[i % len(COLORS)], alpha=0.2, lw=0)
    if not isinstance(x, Tensor):
        ax.set_xticks(places.tolist(), x, rotation=45, ha="right", rotation_mode="anchor")
    return ax


def dot_rows(
    rows: Mapping[str, Float[Tensor, " n"]], *, xlabel: str, landmark: float | None = None, ax: Axes | None = None
) -> Axes:
    """Repeated measurements as dots, a row for each setting; ``landmark`` is a dashed line across all rows."""
    ax = ax or new_axes(7.2, 0.9 + 0.32 * len(rows))
    for row, values in enumerate(rows.values()):
        ax.plot(values.tolist(), [row] * len(values), "o", color=COLORS[0], alpha=0.75)
    if landmark is not None:
        ax.axvline(landmark, color="0.6", ls="--", lw=1)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set(xlabel=xlabel, ylim=(len(rows) - 0.5, -0.5))
    return ax


def scatter(
    groups: Mapping[str, tuple[Float[Tensor, " n"], Float[Tensor, " n"]]],
    *,
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """Points ``(x, y)`` of several groups, told apart by color and by mark."""
    ax = ax or new_axes()
    for i, (label, (x, y)) in enumerate(groups.items()):
        style = {"color": COLORS[i % len(COLORS)], "alpha": 0.8, "ms": 7}
        ax.plot(x.tolist(), y.tolist(), "os^Dv*P"[i % 7], label=label, **style)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    ax.legend(frameon=False, fontsize=9)
    return ax


def bar_panels(
    panels: Mapping[str, Mapping[str, Float[Tensor, " n"]]], *, xlabel: str, ylabel: str, top: float = 1.0
) -> Axes:
    """Panels side by side on one scale from 0 to ``top``: in each, bars for every series, told apart by color.

    ``panels`` maps the title of each panel to its series, and each series' label to its heights.
    """
    axes = new_panels(3.1 * len(panels), 2.9, len(panels))
    for ax, (title, series) in zip(axes, panels.items(), strict=True):
        width = 0.8 / len(series)
        for i, (label, heights) in enumerate(series.items()):
            places = torch.arange(len(heights)) + (i - (len(series) - 1) / 2) * width
            ax.bar(places.tolist(), heights.tolist(), width, color=COLORS[i % len(COLORS)], label=label)
        ax.set(title=title, xlabel=xlabel, ylim=(0, top))
    axes[0].set_ylabel(ylabel)
    axes[0].legend(frameon=False, fontsize=9)
    return axes[0]


def band_panels(
    x: Float[Tensor, " n"],
    panels: Mapping[str, Mapping[str, Float[Tensor, "runs n"]]],
    *,
    xlabel: str,
    ylabel: str = "",
    log: Sequence[str] = (),
    top: float | None = None,
    levels: Mapping[str, float] | None = None,
) -> Axes:
    """Panels side by side, in each the ``bands`` of the same lines; one legend below all of them.

    Args:
        x: What all panels have across.
        panels: Title -> label of a line -> its runs, one in a row.
        xlabel: What ``x`` is.
        ylabel: What all panels have upright, if it is the same.
        log: Titles of panels with a logarithmic axis.
        top: Upper end of all upright axes, which then begin at 0.
        levels: What is written at a gray line across every panel -> its height.
    """
    axes = new_panels(3.1 * len(panels), 3.2, len(panels))
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        bands(x, lines, xlabel=xlabel, ylabel="", ax=ax)
        ax.get_legend().remove()
        ax.set_title(title, fontsize=10)
        ax.xaxis.get_major_locator().set_params(integer=True)
        if title in log:
            ends = torch.cat([runs.flatten() for runs in lines.values()]).log10()
            ax.set(yscale="log", ylim=(10 ** ends.min().floor().item(), 10 ** ends.max().ceil().item()))
        if top is not None:
            ax.set_ylim(0, top)
        _levels(ax, levels or {}, named=ax is axes[-1])
    axes[0].set_ylabel(ylabel)
    handles, labels = axes[0].get_legend_handles_labels()
    axes[0].figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
    return axes[0]


def seed_panels(
    x: Float[Tensor, " n"],
    panels: Mapping[str, tuple[Float[Tensor, "runs n"], Float[Tensor, "runs n"]]],
    names: tuple[str, str],
    *,
    xlabel: str,
    levels: Mapping[str, float] | None = None,
) -> Axes:
    """Panels side by side in two rows, two measures of the same runs below one another, each run a line of its own color.

    Args:
        x: What all panels have across.
        panels: Title -> the two measures, one run in a row.
        names: What the measures are.
        xlabel: What ``x`` is.
        levels: What is written at a gray line across the upper panels -> its height.
    """
    ax = new_axes(3.1 * len(panels), 4.8)
    figure = ax.figure
    ax.remove()
    grid = figure.subplots(2, len(panels), squeeze=False, sharex=True, sharey="row")
    for column, (title, measures) in enumerate(panels.items()):
        for row, values in enumerate(measures):
            for run, color in zip(values.tolist(), COLORS, strict=False):
                grid[row][column].plot(x.tolist(), run, color=color, lw=1.3)
        grid[0][column].set_title(title, fontsize=10)
        grid[1][column].set_xlabel(xlabel)
        grid[0][column].set_ylim(0, None)
        _levels(grid[0][column], levels or {}, named=column == len(panels) - 1)
    for row, name in enumerate(names):
        grid[row][0].set_ylabel(name)
    return grid[0][0]


def _levels(ax: Axes, levels: Mapping[str, float], named: bool) -> None:
    for name, height in levels.items():
        ax.axhline(height, color="0.6", lw=0.8, zorder=0)
        if named:
            ax.annotate(
                name, (1, height), (4, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                va="center", fontsize=8, color="0.35", annotation_clip=False,
            )  # fmt: skip
