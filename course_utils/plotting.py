"""Figures of the course: tensors in, matplotlib Axes out. No global state: nothing here touches pyplot.

Every function draws into the ``ax`` it is given, or into a new one, and hands it back; ``title`` stands above it. ``show``
displays the figure of an Axes with a text for those who cannot see it.
"""

import io
from collections.abc import Mapping, Sequence

import matplotlib as mpl
import torch
from jaxtyping import Float, Shaped
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

# Okabe and Ito, "Color Universal Design", 2002, revised 2008: told apart by readers with any common color blindness.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
WEIGHT_COLOR = "#7A3E9D"  # attention weights have it in every picture of the course
LINE_STYLES = ("-", "--", "-.", ":")
MAX_WRITTEN_VALUES = 150


def new_axes(width: float = 5.0, height: float = 3.6, columns: int = 1) -> Axes | list[Axes]:
    """Fresh Axes side by side on a figure of their own: one, or a list of them if ``columns`` is more than 1.

    ``width`` and ``height`` are those of the whole figure, in inches.
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, columns)
    return axes if columns == 1 else list(axes)


def png(figure: Figure, dpi: int = 110, *, fitted: bool = False) -> bytes:
    """The figure as the bytes of a PNG file, always the same. ``fitted``: grown or cut to what is drawn in it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None}, bbox_inches="tight" if fitted else None)
    return buffer.getvalue()


def show(ax: Axes, alt: str = "") -> None:
    """Display the figure that ``ax`` belongs to.

    ``alt`` says what the figure shows, for readers who cannot see it and where pictures are not displayed. A diagram brings
    its own (the label of its Axes); it must not be empty.
    """
    alt = alt or str(ax.get_label())
    if not alt.strip():
        raise ValueError("alt is empty: say in a sentence what the figure shows")
    from IPython.display import display

    data = {"image/png": png(ax.figure, fitted=True), "text/plain": f"[figure: {alt}]"}
    display(data, raw=True, metadata={"image/png": {"alt": alt}})


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
    shades = LinearSegmentedColormap.from_list("weights", ("#FFFFFF", WEIGHT_COLOR))
    ax = _matrix(weights, query_labels, key_labels, ax, title, shades, 0.0, 1.0, quantity)
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
) -> Axes:
    """Similarities of either sign as a heatmap whose neutral color is zero.

    Labels and ``quantity`` are as for ``attention_heatmap``.
    """
    bound = max(similarities.abs().max().item(), 1e-9)
    return _matrix(similarities, row_labels, column_labels, ax, title, "PuOr", -bound, bound, quantity)


def arrows(vectors: Float[Tensor, "n 2"], labels: Sequence[str], *, ax: Axes | None = None, title: str = "") -> Axes:
    """Vectors of the plane as arrows from the origin, both axes on one scale."""
    _require_labels(labels, len(vectors), "labels")
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
    x: Float[Tensor, " n"],
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


def bar_panels(
    panels: Mapping[str, Mapping[str, Float[Tensor, " n"]]], *, xlabel: str, ylabel: str, top: float = 1.0
) -> Axes:
    """Panels side by side on one scale from 0 to ``top``: in each, bars for every series, told apart by color.

    ``panels`` maps the title of each panel to its series, and each series' label to its heights.
    """
    axes = new_axes(3.1 * len(panels), 2.9, columns=len(panels))
    for ax, (title, series) in zip(axes if len(panels) > 1 else [axes], panels.items(), strict=True):
        width = 0.8 / len(series)
        for i, (label, heights) in enumerate(series.items()):
            places = torch.arange(len(heights)) + (i - (len(series) - 1) / 2) * width
            ax.bar(places.tolist(), heights.tolist(), width, color=COLORS[i % len(COLORS)], label=label)
        ax.set(title=title, xlabel=xlabel, ylim=(0, top))
    first = ax.figure.axes[0]
    first.set_ylabel(ylabel)
    first.legend(frameon=False, fontsize=9)
    return first


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
    _require_labels(row_labels, rows, "row labels")
    _require_labels(column_labels, columns, "column labels")
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


def _require_labels(labels: Sequence[str] | None, count: int, name: str) -> None:
    if labels is not None and len(labels) != count:
        raise ValueError(f"{len(labels)} {name} for {count} entries; give one for each")
