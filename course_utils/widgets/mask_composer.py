"""The widget of lesson 05: masks put together, and what each query may still see."""

import ipywidgets
import torch
from jaxtyping import Bool
from matplotlib.figure import Figure
from torch import Tensor

from course_utils import diagrams

from .live_figure import WIDE, LiveFigure


def mask_composer() -> LiveFigure:
    """Causal, padding and sliding-window masks combined, for any two lengths and either alignment. For lesson 05."""

    def draw(figure: Figure, causal: bool, padding: int, window: int, bottom_right: str, L_q: int, L_k: int) -> None:
        mask = compose_mask(L_q, L_k, causal, padding, window, bottom_right == "bottom-right")
        blind = (~mask.any(dim=-1)).nonzero().flatten().tolist()
        ax = figure.add_axes((0.08, 0.04, 0.56, 0.82))
        diagrams.mask_cells(ax, mask)
        ax.set_title("filled: may attend; hatched: may not")
        for i in range(L_q):
            ax.text(-0.2, i + 0.5, f"q{i}", ha="right", va="center", fontsize=9)
        for j in range(L_k):
            label = "pad" if j >= L_k - padding else f"k{j}"
            ax.text(j + 0.5, -0.1, label, ha="center", va="bottom", fontsize=8)
        ax.set(xlim=(-0.9, L_k + 0.1), ylim=(L_q + 0.1, -0.7))
        lines = [
            f"{int(mask.sum())} of {mask.numel()} pairs may attend",
            f"the last query sees {int(mask[-1].sum())} keys",
            "",
            "sees nothing: " + (", ".join(f"q{i}" for i in blind) if blind else "no query"),
        ]
        figure.text(0.68, 0.6, "\n".join(lines), fontsize=10, va="center", linespacing=1.6)

    controls = {
        "causal": ipywidgets.Checkbox(True, description="causal: hide the future", **WIDE),
        "padding": ipywidgets.IntSlider(2, min=0, max=8, description="padding at the end", **WIDE),
        "window": ipywidgets.IntSlider(0, min=0, max=8, description="window (0: none)", **WIDE),
        "bottom_right": ipywidgets.ToggleButtons(options=["bottom-right", "top-left"], description="alignment", **WIDE),
        "L_q": ipywidgets.IntSlider(5, min=1, max=8, description="queries, L_q", **WIDE),
        "L_k": ipywidgets.IntSlider(7, min=1, max=8, description="keys, L_k", **WIDE),
    }
    return LiveFigure("causal, padding and window masks, combined", draw, controls, (7.6, 3.8))


def compose_mask(
    L_q: int, L_k: int, causal: bool, padding: int, window: int, bottom_right: bool
) -> Bool[Tensor, "L_q L_k"]:
    """The mask that the controls describe; True = may attend.

    Args:
        L_k: Number of keys; it may be below ``L_q`` here, so that one sees what that does.
        padding: How many keys at the end are padding.
        window: Hide keys ``window`` or more positions away, to either side unless ``causal``; 0: no window.
        bottom_right: The last query stands at the last key; otherwise the first query stands at the first.
    """
    offset = L_k - L_q if bottom_right else 0
    distance = torch.arange(L_q)[:, None] + offset - torch.arange(L_k)  # (L_q, L_k), how far key j lies behind query i
    mask = (torch.arange(L_k) < L_k - padding).expand(L_q, L_k)  # (L_q, L_k)
    if causal:
        mask = mask & (distance >= 0)
    if window:
        mask = mask & (distance.abs() < window)
    return mask
