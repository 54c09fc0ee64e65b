"""Kernel regression: bandwidth and weights as the library computes them."""

import torch

from course_utils.widgets import kernel_regression

X = torch.linspace(0, 5, 21)


def test_titles_say_temperature_and_how_many_keys_count():
    widget = kernel_regression(X, X.sin())
    left, right = widget.figure.axes
    assert "bandwidth 0.32: temperature 0.1" in left.get_title()
    heights = [bar.get_height() for bar in right.patches]
    assert abs(sum(heights) - 1) < 1e-5
    widget.controls["log_bandwidth"].value = 1
    assert "21.0 keys count" in widget.figure.axes[1].get_title()
