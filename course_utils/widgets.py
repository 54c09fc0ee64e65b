"""Interactive figures: ipywidgets controls over ``plotting``, drawn with Agg into an Image.

An Image rather than an Output widget: it does not flicker, and its redraws never end up in a cell's saved output.
"""

import math
import traceback
from collections.abc import Callable, Mapping

import ipywidgets
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from . import plotting
from .attention import nadaraya_watson
from .similarity import cosine_similarity, dot_product

DPI = 80


class LiveFigure(ipywidgets.VBox):
    """Controls above a figure that is redrawn whenever one of them moves.

    Args:
        name: What the widget is, for the text where no widget can be shown.
        draw: Called as ``draw(figure, **values)``, the values by the controls' names; draws into the empty figure.
        controls: Name -> ipywidgets control with a ``value``.
        size: Width and height in inches.
    """

    def __init__(
        self,
        name: str,
        draw: Callable[..., None],
        controls: Mapping[str, ipywidgets.ValueWidget],
        size: tuple[float, float],
    ) -> None:
        self.name, self.draw, self.controls = name, draw, dict(controls)
        self.figure = Figure(figsize=size)
        FigureCanvasAgg(self.figure)
        self.image = ipywidgets.Image(format="png")
        self.problem = ipywidgets.HTML()
        super().__init__([*self.controls.values(), self.problem, self.image])
        for control in self.controls.values():
            control.observe(self.redraw, "value")
        self.redraw()

    def redraw(self, change: object = None) -> None:
        """Draw the present state. What goes wrong is shown in the widget, since a callback's error has no cell."""
        try:
            self.figure.clear()
            self.draw(self.figure, **{name: control.value for name, control in self.controls.items()})
            self.image.value = plotting.png(self.figure, DPI)
            self.problem.value = ""
        except Exception as problem:
            self.problem.value = f"<pre style='color:#b00020'>{''.join(traceback.format_exception_only(problem))}</pre>"

    def show_first_state(self, alt: str) -> None:
        """Display the figure as an ordinary picture, for pages that are read without a kernel."""
        plotting.show(self.figure.axes[0], alt)

    def __repr__(self) -> str:
        return f"[interactive: {self.name}. Run this cell to use its controls.]"


def _slider(description: str, value: float, low: float, high: float, step: float) -> ipywidgets.FloatSlider:
    return ipywidgets.FloatSlider(
        value,
        min=low,
        max=high,
        step=step,
        description=description,
        style={"description_width": "11em"},
        layout={"width": "32em"},
    )


def two_vectors() -> LiveFigure:
    """Two vectors by angle and length; their dot product and cosine as they move. For lesson 01."""

    def draw(figure: Figure, angle: float, length_a: float, length_b: float) -> None:
        radians = torch.tensor(math.radians(angle))
        a = torch.tensor([length_a, 0.0])
        b = length_b * torch.stack([radians.cos(), radians.sin()])
        ax = figure.add_axes((0.12, 0.14, 0.5, 0.76))
        plotting.arrows(torch.stack([a, b]), ["a", "b"], ax=ax)
        ax.set(xlim=(-3.4, 3.4), ylim=(-3.4, 3.4))
        lines = [
            f"|a| = {length_a:.1f}    |b| = {length_b:.1f}",
            f"angle = {angle:.0f}°",
            "",
            f"cosine = {cosine_similarity(a, b).item():5.2f}",
            f"a · b  = {dot_product(a, b).item():5.2f}",
        ]
        figure.text(0.67, 0.5, "\n".join(lines), family="monospace", va="center", fontsize=11)

    controls = {
        "angle": _slider("angle between them", 45, 0, 180, 5),
        "length_a": _slider("length of a", 2, 0, 3, 0.1),
        "length_b": _slider("length of b", 1.5, 0, 3, 0.1),
    }
    return LiveFigure("two vectors, their dot product and cosine", draw, controls, (6.4, 3.9))


def kernel_regression(x_key: torch.Tensor, y_key: torch.Tensor) -> LiveFigure:
    """Nadaraya-Watson by bandwidth: the curve, and the weights of one query. For lesson 02.

    Args:
        x_key: Where values are known, shape ``(L_k,)``.
        y_key: The known values, shape ``(L_k,)``.
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
        "log_bandwidth": _slider("log10 of bandwidth", -0.5, -2, 1, 0.1),
        "query": _slider("query x", round((low + high) / 2, 1), low, high, 0.1),
    }
    return LiveFigure("kernel regression by bandwidth", draw, controls, (8.6, 3.5))


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
        "operation": ipywidgets.Dropdown(
            options=SHAPE_OPERATIONS,
            description="operation",
            style={"description_width": "11em"},
            layout={"width": "32em"},
        ),
        "entry": ipywidgets.IntSlider(
            1,
            min=0,
            max=11,
            description="entry of the result",
            style={"description_width": "11em"},
            layout={"width": "32em"},
        ),
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
