"""The widget of lesson 00: what reshape, transpose, permute and einsum do to numbered boxes."""

import ipywidgets
import torch
from matplotlib.figure import Figure

from course_utils import plotting

from .live_figure import WIDE, LiveFigure

# What the viewer of lesson 00 offers: code as a student would write it, run on x of shape (3, 4) and y of shape (2, 4).
SHAPE_OPERATIONS = (
    "x.reshape(4, 3)",
    "x.transpose(0, 1)",
    "x.reshape(2, 3, 2)",
    "x.view(3, 2, 2).transpose(0, 1)",
    "x.view(3, 2, 2).permute(1, 2, 0)",
    "torch.einsum('id->di', x)",
    "torch.einsum('id->i', x)",
    "torch.einsum('id,jd->ij', x, y)",
)


def shape_viewer() -> LiveFigure:
    """What reshape, transpose, permute and einsum do to numbered boxes, and where each entry comes from. For lesson 00."""
    x, y = torch.arange(12).view(3, 4), torch.arange(12, 20).view(2, 4)

    def draw(figure: Figure, operation: str, entry: int) -> None:
        result = _evaluate(operation, x, y)
        entry %= result.numel()
        used_x, used_y = _sources(operation, x, y, entry)
        rows = torch.arange(3)[:, None].expand(3, 4)
        names = [("x (3, 4)", x, rows, used_x)]
        if "y)" in operation:
            names.append(("y (2, 4)", y, torch.arange(4, 6)[:, None].expand(2, 4), used_y))
        marked = (torch.arange(result.numel()) == entry).view(result.shape)
        copied = result.numel() == x.numel() and "y)" not in operation
        shades = result // 4 if copied else torch.full_like(result, 3)
        names.append((f"result {tuple(result.shape)}", result, shades, marked))
        for i, (title, tensor, shade, mark) in enumerate(names):
            ax = figure.add_axes((i / len(names) + 0.01, 0.12, 1 / len(names) - 0.03, 0.72))
            plotting.number_grid(tensor, shades=shade, marked=mark, ax=ax, title=title)
        where = [int(i) for i in torch.unravel_index(torch.tensor(entry), result.shape)]
        figure.text(
            0.02, 0.03, f"result{where} = {result.flatten()[entry].item()}, made from the framed boxes", fontsize=10
        )

    controls = {
        "operation": ipywidgets.Dropdown(options=SHAPE_OPERATIONS, description="operation", **WIDE),
        "entry": ipywidgets.IntSlider(1, min=0, max=11, description="entry of the result", **WIDE),
    }
    return LiveFigure("reshape, transpose, permute and einsum on numbered boxes", draw, controls, (8.2, 2.9))


def _evaluate(operation: str, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if operation not in SHAPE_OPERATIONS:
        raise ValueError(f"operation {operation!r} is not one of {SHAPE_OPERATIONS}")
    return eval(operation, {"torch": torch, "x": x, "y": y})  # one of the literals above


def _sources(operation: str, x: torch.Tensor, y: torch.Tensor, entry: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Which entries of x and of y the given entry of the result depends on: those with a gradient."""
    left, right = (torch.ones(t.shape, requires_grad=True) for t in (x, y))
    out = _evaluate(operation, left, right).flatten()[entry]
    grads = torch.autograd.grad(out, (left, right), allow_unused=True)
    return tuple(
        torch.zeros(t.shape, dtype=torch.bool) if g is None else g != 0 for t, g in zip((x, y), grads, strict=True)
    )
