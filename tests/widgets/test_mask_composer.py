"""The mask composer: the library's masks where it has them, and the rows that see nothing named."""

import pytest
import torch

from course_utils import masks
from course_utils.widgets import mask_composer
from course_utils.widgets.mask_composer import compose_mask


def texts(widget):
    return " ".join(text.get_text() for text in widget.figure.texts)


def grid(widget):
    return [t.get_text() for t in widget.figure.axes[0].texts if t.get_text() in ("0", "1")]


@pytest.mark.parametrize(("L_q", "L_k"), [(5, 5), (3, 7), (1, 6)])
def test_the_masks_are_those_of_the_library(L_q, L_k):
    assert torch.equal(compose_mask(L_q, L_k, True, 0, 0, True), masks.causal_mask(L_q, L_k)[0, 0])
    window = masks.sliding_window_mask(L_q, L_k, window=2)[0, 0]
    assert torch.equal(compose_mask(L_q, L_k, True, 0, 2, True), window)
    tokens = torch.ones(1, L_k, dtype=torch.int64)
    tokens[:, -2:] = 0
    padded = masks.combine_masks(masks.causal_mask(L_q, L_k), masks.padding_mask(tokens, 0))[0, 0]
    assert torch.equal(compose_mask(L_q, L_k, True, 2, 0, True), padded)


def test_first_state_shows_the_combined_mask():
    widget = mask_composer()
    expected = compose_mask(5, 7, True, 2, 0, True).int().flatten().tolist()
    assert grid(widget) == [str(value) for value in expected]
    assert "sees nothing: no query" in texts(widget)


def test_rows_that_see_nothing_are_named():
    widget = mask_composer()
    widget.controls["window"].value = 2
    assert texts(widget).endswith("sees nothing: q4")
    widget.controls["padding"].value = 3
    assert texts(widget).endswith("sees nothing: q3, q4")
    widget.controls["padding"].value = 7
    assert "sees nothing: q0, q1, q2, q3, q4" in texts(widget)


def test_alignment_and_fewer_keys_than_queries():
    widget = mask_composer()
    widget.controls["padding"].value = 0
    assert "the last query sees 7 keys" in texts(widget)
    widget.controls["bottom_right"].value = "top-left"
    assert "the last query sees 5 keys" in texts(widget)
    widget.controls["bottom_right"].value = "bottom-right"
    widget.controls["L_k"].value = 3
    assert "sees nothing: q0, q1" in texts(widget)
    assert widget.problem.value == ""
