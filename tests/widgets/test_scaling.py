"""The scaling widget: one query's weights and the size of their gradient, as the controls say."""

import pytest
import torch

from course_utils.widgets import scaling
from course_utils.widgets.scaling import SIZES, _jacobian_size


@pytest.fixture(scope="module")
def widget():
    return scaling()


def state(widget, d_k, scaled):
    widget.controls["d_k"].value, widget.controls["scaled"].value = d_k, scaled
    assert widget.problem.value == ""
    left, right = widget.figure.axes
    heights = torch.tensor([bar.get_height() for bar in left.patches])
    marker = right.lines[-1]
    return left.get_title(), heights, (marker.get_xdata()[0], marker.get_ydata()[0])


def test_first_state_is_64_not_scaled(widget):
    assert widget.controls["d_k"].value == 64
    assert "d_k = 64, not scaled" in widget.figure.axes[0].get_title()


def test_weights_of_sixteen_keys_sum_to_one(widget):
    for d_k in (1, 1024):
        for scaled in (False, True):
            title, heights, _ = state(widget, d_k, scaled)
            assert f"d_k = {d_k}, {'scaled' if scaled else 'not scaled'}:" in title
            assert len(heights) == 16
            assert heights.sum().item() == pytest.approx(1, abs=1e-5)


def test_wide_unscaled_scores_saturate_and_scaled_ones_do_not(widget):
    _, sharp, (_, vanished) = state(widget, 1024, False)
    _, soft, (place, kept) = state(widget, 1024, True)
    assert sharp.max() > 0.99 > 0.6 > soft.max()
    assert vanished < 0.02 < 0.1 < kept
    assert place == 1024


def test_scale_changes_nothing_for_size_one(widget):
    assert torch.equal(state(widget, 1, False)[1], state(widget, 1, True)[1])


def test_mean_gradient_falls_with_d_k_unless_scaled(widget):
    lines = {line.get_label(): torch.tensor(line.get_ydata()) for line in widget.figure.axes[1].lines}
    assert len(lines["scaled"]) == len(SIZES)
    assert lines["not scaled"][-1] < 0.25 * lines["not scaled"].max()
    assert lines["scaled"][-1] > 0.7 * lines["scaled"].max()


def test_size_is_that_of_the_jacobian_by_autograd():
    scores = torch.tensor([0.3, -1.0, 0.8])
    jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), scores)
    assert _jacobian_size(torch.softmax(scores, -1)[None]).item() == pytest.approx(jacobian.norm().item(), rel=1e-5)
