"""Tables of numbers as colored cells."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import torch
from jaxtyping import Float, Shaped
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.patches import Rectangle
from torch import Tensor

from .canvas import COLORS, WEIGHT_COLOR, new_axes, new_panels, require_labels

MAX_WRITTEN_VALUES = 150
WEIGHT_SHADES = LinearSegmentedColormap.from_list("weights", ["#FFFFFF", WEIGHT_COLOR])


def attention_heatmap(
    weights: Float[Tensor, "L_q L_k"],
    query_labels: Sequence[str] | None = None,
    key_labels: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    title: str = "",
    quantity: str = "weight",
) -> Axes:
    """Attention weights as a heatmap, one row a query, one column a key, on the fixed scale 0 to 1: white to the weights' color.

    Labels that are None become positions. ``quantity`` is what the color bar says. In a cell that is exactly 0 no number stands.
    """
    ax = _matrix(weights, query_labels, key_labels, ax, title, WEIGHT_SHADES, 0.0, 1.0, quantity)
    ax.set(xlabel="key" if key_labels else "key position", ylabel="query" if query_labels else "query position")
    return ax


def similarity_heatmap(
    similarities: Float[Tensor, "L_q L_k"],
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    title: str = "",
    quantity: str = "similarity",
    bound: float | None = None,
) -> Axes:
    """Similarities of either sign as a heatmap whose neutral color is zero.

    Labels and ``quantity`` are as for ``attention_heatmap``. The scale ends at ``bound``, or at the largest similarity; give
    it where two heatmaps are to be compared.
    """
    bound = bound or max(similarities.abs().max().item(), 1e-9)
    return _matrix(similarities, row_labels, column_labels, ax, title, "PuOr", -bound, bound, quantity)


def weight_maps(
    x_query: Float[Tensor, " L_q"], x_key: Float[Tensor, " L_k"], maps: Mapping[str, Float[Tensor, "L_q L_k"]]
) -> list[Axes]:
    """Weights of queries over keys that both lie on one line, in order: maps side by side, each key as wide as its neighborhood.

    One color scale for all, whose shades grow with the root of the weight, so that small weights can be seen too.
    """
    scale = PowerNorm(0.5, vmin=0.0, vmax=1.0)
    between = [(values[1:] + values[:-1]) / 2 for values in (x_key, x_query)]  # (L_k - 1,), (L_q - 1,)
    edges = [torch.cat([v[:1], b, v[-1:]]).tolist() for v, b in zip((x_key, x_query), between, strict=True)]
    axes = new_panels(2.6 * len(maps) + 0.8, 2.9, len(maps))
    for ax, (title, weights) in zip(axes, maps.items(), strict=True):
        mesh = ax.pcolormesh(*edges, weights.tolist(), cmap=WEIGHT_SHADES, norm=scale)
        ax.set(xlabel="x of the key", title=title, aspect="equal")
        ax.invert_yaxis()
    axes[0].set_ylabel("x of the query")
    bar = axes[0].figure.colorbar(mesh, ax=axes, label="weight", ticks=[0.0, 0.05, 0.2, 0.5, 1.0])
    bar.ax.set_yticklabels(["0", "0.05", "0.2", "0.5", "1"])
    return axes


def number_grid(
    tensor: Shaped[Tensor, "..."],
    *,
    shades: Shaped[Tensor, "..."] | None = None,
    marked: Shaped[Tensor, "..."] | None = None,
    ordered: bool = False,
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """A small tensor of one to three dimensions as boxes with its numbers in them, slice beside slice.

    Args:
        shades: Whole numbers of the same shape; boxes of equal number get equal color. None: all alike.
        marked: Booleans of the same shape; boxes that are True get a thick frame.
        ordered: Whether larger ``shades`` are darker, on one map, in the place of a color for each number.
    """
    if tensor.dim() > 3:
        raise ValueError(f"tensor has {tensor.dim()} dimensions; at most 3 can be drawn")
    ax = ax or new_axes(4.0, 2.4)
    cube = tensor.reshape((1,) * (3 - tensor.dim()) + tuple(tensor.shape))  # (slices, rows, columns)
    hues = (shades if shades is not None else torch.zeros_like(tensor)).reshape(cube.shape)
    frames = (marked if marked is not None else torch.zeros_like(tensor, dtype=torch.bool)).reshape(cube.shape)
    slices, rows, columns = cube.shape
    scale, most = mpl.colormaps["Blues"], max(int(hues.max()), 1) if hues.numel() else 1
    for s in range(slices):
        for r in range(rows):
            for c in range(columns):
                left, mark = s * (columns + 0.6) + c, bool(frames[s, r, c])
                hue = int(hues[s, r, c])
                color = scale(0.6 * hue / most) if ordered else mpl.colors.to_rgba(COLORS[hue % len(COLORS)], 0.3)
                ax.add_patch(
                    Rectangle(
                        (left, r),
                        1,
                        1,
                        fc=color,
                        ec="black" if mark else "white",
                        lw=2.5 if mark else 1.0,
                        zorder=3 if mark else 2,
                    )
                )
                ax.text(left + 0.5, r + 0.5, f"{cube[s, r, c].item():g}", ha="center", va="center", zorder=4)
    ax.set(xlim=(-0.1, slices * (columns + 0.6) - 0.5), ylim=(rows + 0.1, -0.1), aspect="equal", title=title)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    return ax


def _matrix(values, row_labels, column_labels, ax, title, color_map, low, high, quantity) -> Axes:
    rows, columns = values.shape
    require_labels(row_labels, rows, "row labels")
    require_labels(column_labels, columns, "column labels")
    ax = ax or new_axes(min(2.2 + 0.42 * columns, 9.0), min(1.6 + 0.36 * rows, 7.0))
    image = ax.imshow(values.detach().float().tolist(), cmap=color_map, vmin=low, vmax=high, aspect="auto")
    bar = ax.figure.colorbar(image, ax=ax, label=quantity)
    if values.min() >= 0:
        bar.ax.set_ylim(0.0, high)
    whole = torch.equal(values, values.round())
    if whole:
        bar.locator = mpl.ticker.MaxNLocator(integer=True)
        bar.update_ticks()
    form = ".0f" if whole else ".2f"
    _ticks(ax.xaxis, column_labels, columns)
    _ticks(ax.yaxis, row_labels, rows)
    if column_labels and max(map(len, column_labels)) > 2:
        ax.tick_params("x", rotation=60)
    if rows * columns <= MAX_WRITTEN_VALUES and columns <= 12:
        for r in range(rows):
            for c in range(columns):
                value = values[r, c].item()
                if value == 0 and not whole:
                    continue
                dark = sum(image.cmap(image.norm(value))[:3]) < 1.4
                ax.text(
                    c,
                    r,
                    f"{round(value, 2) + 0.0:{form}}",
                    ha="center",
                    va="center",
                    fontsize=8,
                    color="white" if dark else "black",
                )
    ax.set_title(title)
    return ax


def _ticks(axis, labels: Sequence[str] | None, count: int) -> None:
    if labels:
        axis.set_ticks(range(count), labels)
    else:
        axis.set_major_locator(mpl.ticker.MaxNLocator(nbins=10, integer=True))
