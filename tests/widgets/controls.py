"""Moves the controls of a widget, and reads what is drawn."""

import torch
from torch import Tensor

from course_utils.widgets.live_figure import LiveFigure


def move(widget: LiveFigure, **values: object) -> None:
    """Set controls by name; every picture on the way must succeed."""
    for name, value in values.items():
        widget.controls[name].value = value
        assert not widget.problem.value


def heatmap(widget: LiveFigure) -> Tensor:
    """The numbers of the first Axes' image."""
    return torch.tensor(widget.figure.axes[0].images[0].get_array().filled()).float()


def texts(widget: LiveFigure) -> str:
    """What stands beside the Axes."""
    return " ".join(text.get_text() for text in widget.figure.texts)


def bars(widget: LiveFigure, ax: int = 0) -> list[float]:
    """The sizes of the bars of one Axes: their widths if they lie, else their heights."""
    patches = widget.figure.axes[ax].patches
    lie = len({bar.get_height() for bar in patches}) == 1
    return [bar.get_width() if lie else bar.get_height() for bar in patches]
