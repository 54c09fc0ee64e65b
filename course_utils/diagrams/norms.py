"""What LayerNorm and RMSNorm do to vectors with three entries, seen from the side of the plane of mean 0."""

import math
from collections.abc import Mapping

import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Ellipse
from torch import Tensor

from ..plotting import COLORS, new_axes

TILT = 0.35  # radians: how far from above the plane of mean 0 is seen


def _seen(points: Float[Tensor, "n 3"]) -> Float[Tensor, "n 2"]:
    """Where points appear: the direction (1, 1, 1) of equal entries goes up."""
    across = torch.tensor([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0], [1.0, 1.0, 1.0]])
    first, second, up = (points @ (across / across.norm(dim=1, keepdim=True)).T).unbind(dim=1)
    return torch.stack([first, up * math.cos(TILT) + second * math.sin(TILT)], dim=1)


def two_norms(cloud: Float[Tensor, "n 3"], normed: Mapping[str, Float[Tensor, "n 3"]]) -> Axes:
    """A panel for each norm: gray points before, colored ones after, and a line from each to its own.

    The outline is the sphere of mean square 1, the ellipse its cut with the plane of vectors whose mean is 0.

    Args:
        cloud: Vectors with three entries.
        normed: Name of a norm -> the same vectors, normalized.

    Raises:
        ValueError: There is no norm.
    """
    if not normed:
        raise ValueError("normed is empty; expected at least one norm")
    axes = new_axes(3.7 * len(normed), 3.7, columns=len(normed))
    axes = axes if isinstance(axes, list) else [axes]
    before, radius = _seen(cloud), math.sqrt(3)
    reach = 1.08 * max(before.abs().max().item(), radius)
    for ax, color, (name, points) in zip(axes, COLORS, normed.items(), strict=False):
        after = _seen(points)
        ax.add_patch(Circle((0, 0), radius, fill=False, ec="0.75"))
        ax.add_patch(Ellipse((0, 0), 2 * radius, 2 * radius * math.sin(TILT), fc="0.95", ec="0.6", zorder=0))
        for start, end in zip(before.tolist(), after.tolist(), strict=True):
            ax.plot(*zip(start, end, strict=True), color="0.8", lw=0.8, zorder=1)
        ax.plot(*before.T.tolist(), "o", color="0.55", ms=3, label="before", zorder=2)
        ax.plot(*after.T.tolist(), "o", color=color, ms=4.5, label="after", zorder=3)
        ax.set(title=name, aspect="equal", xlim=(-reach, reach), ylim=(-reach, reach), xticks=[], yticks=[])
        ax.legend(frameon=False, fontsize=9, loc="lower right")
        ax.set_xlabel("within the plane of mean 0")
    axes[0].set_ylabel("up: all entries grow alike")
    axes[0].set_label(
        f"{len(cloud)} vectors with three entries before and after {' and '.join(normed)}, seen from the side of the plane of "
        "vectors with mean 0, with a line from each point to its normalized one."
    )
    return axes[0]
