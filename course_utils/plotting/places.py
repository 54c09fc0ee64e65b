"""Errors along a text and where attention looked there, and what distance leaves of a weight."""

import math
from collections.abc import Mapping

import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from torch import Tensor

from .canvas import COLORS, new_axes
from .grids import WEIGHT_SHADES


def errors_along(
    wrong: Mapping[str, Float[Tensor, "runs L"]],
    landmark: Float[Tensor, " L"],
    *,
    trained: int,
    weights: Mapping[str, Float[Tensor, "L L"]] | None = None,
    back: int | None = None,
) -> list[Axes]:
    """A panel for each kind of model: its share of wrong answers by position, mean and range of the runs.

    Args:
        wrong: Each model's runs, one in a row; NaN where nothing was asked.
        landmark: A dashed line.
        trained: The first position that training never had: a gray line.
        weights: Each model's attention weights, drawn beneath: over a query's position, how far back it looks.
        back: A distance to mark beside the maps.
    """
    rows = 2 if weights else 1
    figure = Figure(figsize=(1.72 * len(wrong) + 1.0, 2.1 * rows + 0.4), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, len(wrong), squeeze=False, sharex=True, sharey="row")
    positions = list(range(len(landmark)))
    for i, (name, runs) in enumerate(wrong.items()):
        ax, color = panels[0, i], COLORS[i % len(COLORS)]
        ax.fill_between(positions, runs.amin(0).tolist(), runs.amax(0).tolist(), color=color, alpha=0.25, lw=0)
        ax.plot(positions, runs.mean(0).tolist(), color=color, lw=1.6)
        ax.plot(positions, landmark.tolist(), "k--", lw=1.0)
        ax.set_title(name, fontsize=10)
        ax.set(ylim=(-0.03, 0.85), xticks=[0, trained, *range(4 * trained, len(positions), 3 * trained)])
        if weights:
            low = panels[1, i]
            image = low.imshow(
                _by_distance(weights[name]).tolist(),
                cmap=WEIGHT_SHADES,
                norm=PowerNorm(0.5, vmin=0.0, vmax=1.0),
                aspect="auto",
                origin="lower",
            )
            low.set_yticks([back, *range(2 * trained, len(positions), 2 * trained)] if back else [])
        for row in range(rows):
            panels[row, i].axvline(trained - 0.5, color="0.5", lw=1.0)
        panels[-1, i].set_xlabel("position", fontsize=9)
    panels[0, 0].set_ylabel("share of wrong answers", fontsize=9)
    if weights:
        panels[1, 0].set_ylabel("how far back it looks", fontsize=9)
        figure.colorbar(image, ax=panels[1].tolist(), label="weight", ticks=[0.0, 0.05, 0.2, 0.5, 1.0])
    return panels.flatten().tolist()


def _by_distance(weights: Float[Tensor, "L L"]) -> Float[Tensor, "L L"]:
    """Entry ``[d, m]``: the weight of query ``m`` on the key ``d`` places back; NaN where the text has not begun."""
    L = len(weights)
    found = torch.full((L, L), torch.nan)
    for d in range(L):
        found[d, d:] = weights.diagonal(-d)
    return found


def kept_weights(slopes: Float[Tensor, " H"], farthest: int) -> Axes:
    """What a bias of minus slope times distance leaves of a key's weight, ``exp(-slope * distance)``: a named curve a slope."""
    ax, distance = new_axes(7.4, 3.6), torch.linspace(0, farthest, 8 * farthest + 1)
    for i, slope in enumerate(slopes.tolist()):
        color = COLORS[i % len(COLORS)]
        ax.plot(distance.tolist(), (-slope * distance).exp().tolist(), color=color, lw=1.8)
        low = -math.log(0.3) / slope  # where 0.3 is left, curves are far apart: the name is there, or at the right end
        inside = low < 0.8 * farthest
        x, y = (low, 0.3) if inside else (farthest, math.exp(-slope * farthest))
        name = f"1/{1 / slope:.0f}"
        ax.text(x + 0.01 * farthest, y, name, color=color, fontsize=9, va="bottom" if inside else "center")
    ax.set(xlabel="distance m - n", ylabel="what is left of the weight", ylim=(0, 1.05))
    ax.set_xlim(0, 1.08 * farthest)
    return ax
