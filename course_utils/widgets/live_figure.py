"""What every widget is made of: ipywidgets controls over ``plotting``, drawn into an Image, as SVG.

An Image rather than an Output widget: it does not flicker, and its redraws never end up in a cell's saved output.
"""

import html
import traceback
from collections.abc import Callable, Mapping

import ipywidgets
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from course_utils import plotting

from .slider_names import slider_names

WIDTH = 80  # pixels for an inch of the figure

# Room for the longest description, the same for every control.
WIDE = {"style": {"description_width": "11em"}, "layout": {"width": "32em"}}


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
        self.image = ipywidgets.Image(
            format="svg+xml", layout={"width": f"{WIDTH * size[0]:.0f}px", "max_width": "100%"}
        )
        self.problem = ipywidgets.HTML()
        names = slider_names(self.controls.values())
        super().__init__([*self.controls.values(), self.problem, self.image, *names])
        for control in self.controls.values():
            control.observe(self.redraw, "value")
        self.redraw()

    def redraw(self, change: object = None) -> None:
        """Draw the present state. What goes wrong is shown in the widget, since a callback's error has no cell."""
        try:
            self.figure.clear()
            self.draw(self.figure, **{name: control.value for name, control in self.controls.items()})
            self.image.value = plotting.svg(self.figure)
            self.problem.value = ""
        except Exception as problem:
            message = html.escape("".join(traceback.format_exception_only(problem)))  # it may quote what was typed in
            self.problem.value = f"<pre style='color:#b00020'>{message}</pre>"

    def show_first_state(self, alt: str) -> None:
        """Display the figure as an ordinary picture, for pages that are read without a kernel."""
        plotting.show(self.figure.axes[0], alt)

    def __repr__(self) -> str:
        return f"[interactive: {self.name}. Run this cell to use its controls.]"


def slider(description: str, value: float, low: float, high: float, step: float) -> ipywidgets.FloatSlider:
    """A slider for one number, from ``low`` to ``high``."""
    return ipywidgets.FloatSlider(value, min=low, max=high, step=step, description=description, **WIDE)
