"""Axes on a figure of their own, the colors of all pictures, and how a figure is shown: nothing here touches pyplot."""

import io
from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Okabe and Ito, "Color Universal Design", 2002, revised 2008: told apart by readers with any common color blindness.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
WEIGHT_COLOR = "#7A3E9D"  # attention weights have it in every picture of the course
LINE_STYLES = ("-", "--", "-.", ":")
SCREEN_DPI = 96


def new_axes(width: float = 5.0, height: float = 3.6, columns: int = 1) -> Axes | list[Axes]:
    """Fresh Axes side by side on a figure of their own: one, or a list of them if ``columns`` is more than 1.

    ``width`` and ``height`` are those of the whole figure, in inches.
    """
    axes = new_panels(width, height, columns)
    return axes[0] if columns == 1 else axes


def new_panels(width: float, height: float, columns: int) -> list[Axes]:
    """As ``new_axes``, and a list for one column too."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots(1, columns, squeeze=False)[0].tolist()


def png(figure: Figure, dpi: int = 110, *, fitted: bool = False) -> bytes:
    """The figure as the bytes of a PNG file, always the same. ``fitted``: grown or cut to what is drawn in it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None}, bbox_inches="tight" if fitted else None)
    return buffer.getvalue()


def svg(figure: Figure) -> bytes:
    """The figure as the bytes of an SVG file, always the same. Sharp at any size; ``imshow`` has twice a screen's dots."""
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "attention"}):
        figure.savefig(buffer, format="svg", dpi=2 * SCREEN_DPI, metadata={"Date": None})
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


def require_labels(labels: Sequence[str] | None, count: int, name: str) -> None:
    """One label for each of ``count`` entries, or none at all; ``name`` is the argument's."""
    if labels is not None and len(labels) != count:
        raise ValueError(f"{len(labels)} {name} for {count} entries; give one for each")
