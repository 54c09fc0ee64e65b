"""Figures of the course: tensors in, matplotlib Axes out. No global state: nothing here touches pyplot.

Every function draws into the ``ax`` it is given, or into a new one, and hands it back; ``title`` stands above it. ``show``
displays the figure of an Axes with a text for those who cannot see it.
"""

from .canvas import COLORS, WEIGHT_COLOR, new_axes, new_panels, png, show, svg
from .grids import attention_heatmap, number_grid, similarity_heatmap, weight_maps
from .landmarks import mark_levels, mark_places, named_bars, named_dots, named_spans
from .lines import arrows, band_panels, bands, bar_panels, curves, dot_rows, histograms, runs, scatter, seed_panels
from .places import errors_along, kept_weights

__all__ = [
    "COLORS", "WEIGHT_COLOR", "arrows", "attention_heatmap", "band_panels", "bands", "bar_panels", "curves",
    "dot_rows", "errors_along", "histograms", "kept_weights", "mark_levels", "mark_places", "named_bars",
    "named_dots", "named_spans", "new_axes", "new_panels", "number_grid", "png", "runs", "scatter", "seed_panels",
    "show", "similarity_heatmap", "svg", "weight_maps",
]  # fmt: skip
