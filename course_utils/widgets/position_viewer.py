"""The widget of lesson 08: the sinusoidal table, and how similar one position is to all others."""

import math

import ipywidgets
import torch
from matplotlib.figure import Figure
from torch import Tensor

from course_utils import plotting
from course_utils.positions import rotary_angles

from .live_figure import LiveFigure, slider

NUM_POSITIONS = 64
SIZES = (4, 8, 16, 32, 64)


def position_viewer() -> LiveFigure:
    """Sinusoidal positions by size, base and position: the table, and one position's similarity to all. For lesson 08."""

    def draw(figure: Figure, d_model: int, log_base: float, position: int) -> None:
        base = 10**log_base
        table = _sinusoidal_table(NUM_POSITIONS, d_model, base)  # (64, d_model)
        left, right = figure.add_axes((0.07, 0.15, 0.44, 0.73)), figure.add_axes((0.63, 0.15, 0.36, 0.73))
        plotting.similarity_heatmap(table, ax=left, quantity="value")
        left.axhline(position, color=plotting.COLORS[-1], lw=1.5)
        left.set(xlabel="feature", ylabel="position")
        left.set_title(f"sinusoidal positions, d_model = {d_model}, base = {base:.0f}", fontsize=10)
        similarity = table @ table[position] / (d_model / 2)  # (64,)
        plotting.curves(
            torch.arange(float(NUM_POSITIONS)),
            {f"position {position}": similarity},
            xlabel="other position",
            ylabel="dot product / (d_model / 2)",
            ax=right,
        )
        right.axvline(position, color="0.7", lw=1, zorder=0)
        right.set_ylim(-1.05, 1.3)
        slowest = 2 * math.pi * base ** (1 - 2 / d_model)
        right.set_title(f"wavelengths: {2 * math.pi:.1f} to {slowest:.0f} positions", fontsize=10)

    style = {"style": {"description_width": "11em"}, "layout": {"width": "32em"}}
    controls = {
        "d_model": ipywidgets.SelectionSlider(options=SIZES, value=32, description="d_model", **style),
        "log_base": slider("log10 of the base", 4, 0.5, 6, 0.5),
        "position": ipywidgets.IntSlider(20, min=0, max=NUM_POSITIONS - 1, description="position", **style),
    }
    return LiveFigure("sinusoidal positions and their similarity", draw, controls, (9.4, 3.7))


def _sinusoidal_table(num_positions: int, d_model: int, base: float) -> Tensor:
    """The table of ``SinusoidalPositions`` for any base, shape ``(num_positions, d_model)``."""
    angles = rotary_angles(torch.arange(num_positions), d_model, base=base)  # (num_positions, d_model / 2)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).float()
