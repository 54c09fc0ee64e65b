"""Measurements by name beside their landmarks: what chance would give, what a perfect model would."""

from collections.abc import Mapping, Sequence

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from .canvas import COLORS, WEIGHT_COLOR, new_axes, require_labels


def mark_levels(ax: Axes, levels: Mapping[str, float]) -> Axes:
    """Dashed gray lines across, each with its name at its right end, outside the Axes, where it hides nothing."""
    for name, level in levels.items():
        ax.axhline(level, color="0.45", ls="--", lw=1, zorder=0.5)
        ax.annotate(
            name,
            (1, level),
            (4, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color="0.3",
        )
    return ax


def mark_places(ax: Axes, places: Mapping[str, float]) -> Axes:
    """Dotted gray lines upright, each with its name above it, outside the Axes, where it hides nothing."""
    for name, place in places.items():
        ax.axvline(place, color="0.45", ls=":", lw=1.2, zorder=0.5)
        ax.annotate(
            name,
            (place, 1),
            (0, 3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color="0.3",
        )
    return ax


def named_bars(
    names: Sequence[str], heights: Float[Tensor, " n"], *, xlabel: str, ylabel: str, ax: Axes | None = None
) -> Axes:
    """A bar for each name, in the color of attention weights, on a scale from 0 to a little over 1."""
    require_labels(names, len(heights), "names")
    ax = ax or new_axes(max(4.0, 0.26 * len(names)), 2.8)
    ax.bar(range(len(names)), heights.tolist(), color=WEIGHT_COLOR)
    ax.set_xticks(range(len(names)), list(names), family="monospace", parse_math=False)
    ax.set(xlabel=xlabel, ylabel=ylabel, ylim=(0, 1.12))
    return ax


def named_dots(
    names: Sequence[str],
    groups: Mapping[str, Float[Tensor, "runs n"]],
    *,
    xlabel: str,
    ylabel: str,
    log: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Repeated measurements of each name as dots, groups told apart by color and by mark; ``log``: a logarithmic scale."""
    ax = ax or new_axes(max(4.0, 0.45 * len(names)), 3.0)
    for i, (label, runs) in enumerate(groups.items()):
        require_labels(names, runs.shape[1], "names")
        places = [x for _ in range(len(runs)) for x in range(len(names))]
        style = {"color": COLORS[i % len(COLORS)], "alpha": 0.8, "ms": 5}
        ax.plot(places, runs.flatten().tolist(), "os^D"[i % 4], label=label, **style)
    ax.set_xticks(range(len(names)), list(names))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if log:
        ax.set_yscale("log")
    ax.legend(frameon=False, fontsize=9)
    return ax


def named_spans(
    names: Sequence[str], ends: Mapping[str, Sequence[float]], chosen: tuple[str, Sequence[float]], *, ylabel: str
) -> Axes:
    """For each name a line between two ends and a dot where its own value lies, on a logarithmic scale.

    ``ends`` maps two labels to their values, ``chosen`` is the label of the dots and their values; names may have lines.
    """
    (low_name, low), (high_name, high) = ends.items()
    require_labels(names, len(low), "names")
    ax, places = new_axes(8.6, 3.6), range(len(names))
    ax.vlines(places, low, high, color="0.75", lw=5, zorder=1)
    for label, values, mark, color in ((high_name, high, "^", COLORS[0]), (low_name, low, "v", COLORS[1])):
        ax.plot(places, values, mark, color=color, ms=8, fillstyle="none", mew=1.5, ls="none", label=label)
    ax.plot(places, chosen[1], "o", color="black", ms=6, ls="none", label=chosen[0])
    ax.set_xticks(places, list(names))
    ax.set(ylabel=ylabel, yscale="log")
    ax.legend(frameon=False, fontsize=9, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return ax
