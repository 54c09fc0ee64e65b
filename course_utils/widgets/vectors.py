"""The widget of lesson 01: two vectors, their dot product and their cosine."""

import math

import torch
from matplotlib.figure import Figure

from course_utils import plotting
from course_utils.diagrams.palette import COLORS
from course_utils.similarity import cosine_similarity, dot_product

from .live_figure import LiveFigure, slider


def two_vectors() -> LiveFigure:
    """Two vectors by angle and length; their dot product and cosine as they move. For lesson 01."""

    def draw(figure: Figure, angle: float, length_a: float, length_b: float) -> None:
        radians = torch.tensor(math.radians(angle))
        a = torch.tensor([length_a, 0.0])
        b = length_b * torch.stack([radians.cos(), radians.sin()])
        ax = figure.add_axes((0.12, 0.14, 0.5, 0.76))
        plotting.arrows(torch.stack([a, b]), ["a", "b"], ax=ax)
        ax.set(xlim=(-3.4, 3.4), ylim=(-3.4, 3.4))
        shadow = b[0].item()  # of b, on the line of a
        ax.plot([shadow, shadow], [0, b[1].item()], "--", color="0.5", lw=1, label="falls at a right angle")
        ax.plot([0, shadow], [-0.12, -0.12], color=COLORS["output"], lw=4, solid_capstyle="butt", label="shadow")
        lines = [
            f"|a| = {length_a:.1f}    |b| = {length_b:.1f}",
            f"angle = {angle:.0f}°",
            f"shadow of b = {shadow:.2f}",
            "",
            f"cosine = {cosine_similarity(a, b).item():5.2f}",
            f"a · b  = {dot_product(a, b).item():5.2f}",
        ]
        figure.text(0.67, 0.5, "\n".join(lines), family="monospace", va="center", fontsize=11)

    controls = {
        "angle": slider("angle between them", 45, 0, 180, 5),
        "length_a": slider("length of a", 2, 0, 3, 0.1),
        "length_b": slider("length of b", 1.5, 0, 3, 0.1),
    }
    return LiveFigure("two vectors, their dot product and cosine", draw, controls, (6.4, 3.9))
