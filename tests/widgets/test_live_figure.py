"""Widgets: every control changes the picture, errors are seen, every state can be drawn."""

import pytest
import torch
from ipywidgets import FloatSlider
from matplotlib.figure import Figure

from course_utils import widgets
from course_utils.models import Transformer, TransformerConfig
from course_utils.widgets.live_figure import LiveFigure

X = torch.linspace(0, 5, 20)


def never_ending():
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(5, 5, num_layers=2, d_model=4, d_ff=6, num_heads=2)).eval()
    model.generator.bias.data[2] = -9.0  # the end symbol
    return model


MAKERS = {
    "two_vectors": widgets.two_vectors,
    "kernel_regression": lambda: widgets.kernel_regression(X, X.sin()),
    "shape_viewer": widgets.shape_viewer,
    "mask_composer": widgets.mask_composer,
    "cache_calculator": widgets.cache_calculator,
    "decoding_steps": lambda: widgets.decoding_steps(
        never_ending(), torch.tensor([3, 4, 4]), ["pad", "start", "end", "a", "b"], max_len=4
    ),
    "position_viewer": widgets.position_viewer,
}


def ends(control):
    """The values worth trying: every option, both states of a box, both ends of a slider."""
    if hasattr(control, "options"):
        return [option[1] if isinstance(option, tuple) else option for option in control.options]
    return [False, True] if isinstance(control.value, bool) else [control.min, control.max]


@pytest.mark.parametrize(
    "name", sorted(MAKERS.keys() - {"mask_composer", "position_viewer"})
)  # there some controls matter only with others
def test_every_control_redraws(name):
    widget = MAKERS[name]()
    assert bytes(widget.image.value).startswith(b"\x89PNG") and not widget.problem.value
    for control in widget.controls.values():
        before = bytes(widget.image.value)
        control.value = next(end for end in reversed(ends(control)) if end != control.value)
        assert bytes(widget.image.value) != before and not widget.problem.value


@pytest.mark.parametrize("name", MAKERS)
def test_both_ends_of_every_slider_can_be_drawn(name):
    widget = MAKERS[name]()
    for control in widget.controls.values():
        for end in ends(control):
            control.value = end
            assert not widget.problem.value


def test_text_where_no_widget_can_be_shown():
    assert repr(widgets.two_vectors()).startswith("[interactive: two vectors")


def test_an_error_in_a_callback_is_shown_and_goes_away():
    def draw(figure: Figure, x: float) -> None:
        if x > 1:
            raise ValueError("x is too large")
        figure.add_axes((0, 0, 1, 1))

    widget = LiveFigure("test", draw, {"x": FloatSlider(0, min=0, max=3)}, (1, 1))
    widget.controls["x"].value = 2
    assert "ValueError: x is too large" in widget.problem.value
    widget.controls["x"].value = 1
    assert widget.problem.value == ""
