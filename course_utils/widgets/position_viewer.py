"""The widget of lesson 08: where positions act, and what one position is to all others, for three encodings."""

import math

import ipywidgets
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from course_utils import plotting
from course_utils.attention import masked_softmax
from course_utils.masks import causal_mask
from course_utils.positions import alibi_bias, alibi_slopes, rotary_angles

from .live_figure import WIDE, LiveFigure, slider

NUM_POSITIONS = 64
SIZES = (4, 8, 16, 32, 64)
HEADS = 8  # of ALiBi
ENCODINGS = ("sinusoidal", "RoPE", "ALiBi")
# Controls that not every encoding has a use for
USED_BY = {"d_model": ENCODINGS[:2], "log_base": ENCODINGS[:2], "turned": ("RoPE",), "head": ("ALiBi",)}


def position_viewer() -> LiveFigure:
    """Sinusoidal, rotary or ALiBi positions: a map of all, and one position against all others. For lesson 08."""

    def draw(
        figure: Figure, encoding: str, d_model: int, log_base: float, position: int, turned: int, head: int
    ) -> None:
        left, right = figure.add_axes((0.07, 0.15, 0.44, 0.73)), figure.add_axes((0.63, 0.15, 0.36, 0.73))
        if encoding == "sinusoidal":
            curve = _draw_sinusoidal(left, right, d_model, 10**log_base, position)
        elif encoding == "RoPE":
            curve = _draw_rotary(left, right, d_model, 10**log_base, position, turned)
        else:
            curve = _draw_alibi(left, right, position, head)
        left.axhline(position, color=plotting.COLORS[-1], lw=1.5)
        places = torch.arange(float(NUM_POSITIONS))
        line = {f"position {position}": curve}
        plotting.curves(
            places, line, xlabel="other position", ylabel=right.get_ylabel(), ax=right, title=right.get_title()
        )
        right.title.set_fontsize(10)
        right.axvline(position, color="0.7", lw=1, zorder=0)

    controls = {
        "encoding": ipywidgets.Dropdown(options=ENCODINGS, description="encoding", **WIDE),
        "d_model": ipywidgets.SelectionSlider(options=SIZES, value=32, description="size of a vector", **WIDE),
        "log_base": slider("log10 of the base", 2, 0.5, 6, 0.5),
        "position": ipywidgets.IntSlider(20, min=0, max=NUM_POSITIONS - 1, description="position", **WIDE),
        "turned": ipywidgets.IntSlider(0, min=0, max=20, description="RoPE: key turned by", **WIDE),
        "head": ipywidgets.IntSlider(0, min=0, max=HEADS - 1, description="ALiBi: head of 8", **WIDE),
    }

    def grey_out(change: object = None) -> None:
        for name, encodings in USED_BY.items():
            controls[name].disabled = controls["encoding"].value not in encodings

    controls["encoding"].observe(grey_out, "value")
    grey_out()
    return LiveFigure("positions, and what one of them is to all others", draw, controls, (9.4, 3.7))


def _draw_sinusoidal(left: Axes, right: Axes, d_model: int, base: float, position: int) -> Tensor:
    table = _sinusoidal_table(NUM_POSITIONS, d_model, base)  # (64, d_model)
    plotting.similarity_heatmap(table, ax=left, quantity="value")
    left.set(xlabel="feature", ylabel="position")
    slowest = 2 * math.pi * base ** (1 - 2 / d_model)
    left.set_title(f"d_model {d_model}, base {base:.0f}: wavelengths {2 * math.pi:.1f} to {slowest:.0f}", fontsize=10)
    right.set(ylim=(-1.05, 1.3), ylabel="dot product / (d_model / 2)")
    right.set_title(f"how alike position {position} is to the others")
    return table @ table[position] / (d_model / 2)  # (64,)


def _draw_rotary(left: Axes, right: Axes, d_head: int, base: float, position: int, turned: int) -> Tensor:
    places = torch.arange(NUM_POSITIONS)
    distance = places[:, None] - places - turned  # (64, 64): query's position minus key's, the key turned on
    scores = rotary_angles(distance.flatten(), d_head, base=base).cos().mean(dim=1).view_as(distance).float()
    plotting.similarity_heatmap(scores, ax=left, quantity="score / largest")
    left.set(xlabel="key position", ylabel="query position")
    left.set_title(f"RoPE, d_head = {d_head}: a key like the query, turned by {turned}", fontsize=10)
    right.set(ylim=(-1.05, 1.3), ylabel="score / largest")
    right.set_title(f"highest where the key is {turned} places behind")
    return scores[position]  # (64,)


def _draw_alibi(left: Axes, right: Axes, position: int, head: int) -> Tensor:
    weights = masked_softmax(alibi_bias(HEADS, NUM_POSITIONS), causal_mask(NUM_POSITIONS))[0, head]  # (64, 64)
    plotting.attention_heatmap(weights, ax=left)
    slope = f"1/{1 / alibi_slopes(HEADS)[head]:.0f}"
    left.set_title(f"ALiBi, slope {slope}, equal content: weights", fontsize=10)
    count = torch.special.entr(weights[position]).sum().exp()
    right.set(ylim=(-0.02, 1.05), ylabel="weight")
    right.set_title(f"as if {count:.1f} keys counted")
    return weights[position]  # (64,)


def _sinusoidal_table(num_positions: int, d_model: int, base: float) -> Tensor:
    """The table of ``SinusoidalPositions`` for any base, shape ``(num_positions, d_model)``."""
    angles = rotary_angles(torch.arange(num_positions), d_model, base=base)  # (num_positions, d_model / 2)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).float()
