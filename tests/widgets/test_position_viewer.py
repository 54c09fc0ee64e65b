"""The position viewer: the library's table, a similarity that depends on the distance only, wavelengths by hand."""

import math

import pytest
import torch
from controls import heatmap, move

from course_utils.positions import RotaryPositions, SinusoidalPositions, alibi_slopes
from course_utils.widgets import position_viewer
from course_utils.widgets.position_viewer import NUM_POSITIONS, _sinusoidal_table


@pytest.fixture
def widget():
    return position_viewer()


def curve(widget):
    line = next(line for line in widget.figure.axes[1].lines if line.get_label().startswith("position"))
    return torch.tensor(line.get_ydata()).float()


def test_the_first_state_shows_the_library_s_table_and_the_curve_moves_with_the_position(widget):
    move(widget, log_base=4)
    table = SinusoidalPositions(32, NUM_POSITIONS).table
    assert torch.allclose(heatmap(widget), table, atol=1e-6)
    before = curve(widget)
    assert torch.allclose(before, (table @ table[20] / 16), atol=1e-6)
    assert widget.figure.axes[0].lines[-1].get_ydata()[0] == 20
    move(widget, position=27)
    assert torch.allclose(curve(widget)[7:], before[:-7], atol=1e-5)
    assert curve(widget).argmax() == 27 and curve(widget).max().item() == pytest.approx(1, abs=1e-6)
    assert widget.figure.axes[0].lines[-1].get_ydata()[0] == 27


def test_just_the_controls_that_change_nothing_are_grey(widget):
    values = {"d_model": 8, "log_base": 3.0, "position": 40, "turned": 3, "head": 5}
    for encoding in widget.controls["encoding"].options:
        move(widget, encoding=encoding)
        for name, value in values.items():
            picture, at_first = widget.image.value, widget.controls[name].value
            move(widget, **{name: value})
            assert widget.controls[name].disabled == (widget.image.value == picture), (encoding, name)
            move(widget, **{name: at_first})


def test_similarity_is_a_mean_of_cosines_and_wavelengths_are_those_worked_by_hand(widget):
    move(widget, d_model=4, log_base=2, position=0)
    expected = [(math.cos(pos) + math.cos(pos / 10)) / 2 for pos in range(NUM_POSITIONS)]  # 100 ** (-2 / 4) is 1 / 10
    assert curve(widget).tolist() == pytest.approx(expected, abs=1e-6)
    assert "wavelengths 6.3 to 63" in widget.figure.axes[0].get_title()
    assert "d_model 4, base 100" in widget.figure.axes[0].get_title()
    row = [math.sin(2), math.cos(2), math.sin(0.2), math.cos(0.2)]
    assert _sinusoidal_table(3, 4, 100.0)[2].tolist() == pytest.approx(row)


def test_rotary_scores_are_the_library_s_and_peak_where_the_key_was_turned(widget):
    move(widget, encoding="RoPE", d_model=8, log_base=4, turned=3, position=30)
    rotary, content = RotaryPositions(8), torch.ones(1, 1, NUM_POSITIONS, 8)
    scores = (rotary(content) @ rotary(content, 3).mT)[0, 0] / 8
    assert torch.allclose(heatmap(widget), scores, atol=1e-5)
    assert curve(widget).argmax() == 27 and torch.allclose(curve(widget), scores[30], atol=1e-5)


def test_alibi_weights_fall_by_the_slope_and_hide_the_future(widget):
    move(widget, encoding="ALiBi", head=1)
    row = curve(widget)
    assert not row[21:].any() and row.sum().item() == pytest.approx(1)
    assert (row[19] / row[20]).log().item() == pytest.approx(-alibi_slopes(8)[1].item(), abs=1e-5)
    assert "slope 1/4" in widget.figure.axes[0].get_title()
