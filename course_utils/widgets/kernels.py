"""The widget of lesson 02: kernel regression by bandwidth."""

import math

import torch
from matplotlib.figure import Figure

from course_utils import plotting
from course_utils.attention import nadaraya_watson

from .live_figure import LiveFigure, slider


def kernel_regression(x_key: torch.Tensor, y_key: torch.Tensor) -> LiveFigure:
    """Nadaraya-Watson by bandwidth: the curve, and the weights of one query. For lesson 02.

    ``x_key`` says where values are known, ``y_key`` what they are.
    """
    grid = torch.linspace(x_key.min().item(), x_key.max().item(), 120)

    def draw(figure: Figure, log_bandwidth: float, query: float) -> None:
        bandwidth = 10**log_bandwidth
        curve, _ = nadaraya_watson(grid, x_key, y_key, bandwidth)
        prediction, weights = nadaraya_watson(torch.tensor([query]), x_key, y_key, bandwidth)
        entropy = torch.special.entr(weights).sum().item()
        left, right = figure.add_axes((0.09, 0.15, 0.4, 0.72)), figure.add_axes((0.58, 0.15, 0.4, 0.72))
        plotting.curves(grid, {"prediction": curve}, points=(x_key, y_key), xlabel="x", ylabel="y", ax=left)
        left.plot([query], prediction.tolist(), "s", color=plotting.COLORS[1], ms=8)
        left.set_title(f"bandwidth {bandwidth:.2f}: temperature {bandwidth**2:.2g}", fontsize=10)
        right.bar(x_key.tolist(), weights[0].tolist(), width=0.06, color=plotting.COLORS[1])
        right.set(xlabel="key x", ylabel="weight", ylim=(0, 1))
        right.set_title(f"weights of the query {query:.1f}: {math.exp(entropy):.1f} keys count", fontsize=10)

    low, high = x_key.min().item(), x_key.max().item()
    controls = {
        "log_bandwidth": slider("log10 of bandwidth", -0.5, -2, 1, 0.1),
        "query": slider("query x", round((low + high) / 2, 1), low, high, 0.1),
    }
    return LiveFigure("kernel regression by bandwidth", draw, controls, (8.6, 3.5))
