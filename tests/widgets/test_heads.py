"""The head viewer: the weights of the chosen head, what is said of it, and what it refuses."""

import pytest
import torch

from course_utils.widgets import head_viewer

TOKENS = ["a", "b", "a", "c"]


def shown_weights(widget):
    return torch.tensor(widget.figure.axes[0].images[0].get_array().filled())


def said(widget):
    return widget.figure.texts[0].get_text()


def test_each_head_shows_its_own_weights():
    weights = torch.randn(3, 4, 4, generator=torch.Generator().manual_seed(0)).softmax(-1)
    widget = head_viewer(weights, TOKENS)
    assert set(widget.controls) == {"head"}
    for head in range(3):
        widget.controls["head"].value = head
        assert torch.allclose(shown_weights(widget).float(), weights[head])
        assert widget.figure.axes[0].get_title() == f"head {head} of 3"
    assert [tick.get_text() for tick in widget.figure.axes[0].get_xticklabels()] == ["a (0)", "b (1)", "a (2)", "c (3)"]


def test_what_a_head_looks_at_is_measured():
    itself = torch.eye(4)
    previous = torch.eye(4).roll(-1, 1)  # row i has its weight at i - 1; row 0 at the last
    widget = head_viewer(torch.stack([itself, previous, torch.full((4, 4), 0.25)]), TOKENS)
    assert "itself: 1.00" in said(widget) and "equal tokens: 1.00" in said(widget)
    widget.controls["head"].value = 1
    assert "the previous token: 1.00" in said(widget) and "itself: 0.00" in said(widget)
    widget.controls["head"].value = 2
    assert "keys that count: 4.0" in said(widget)
    assert "equal tokens: 0.38" in said(widget)  # (2 + 1 + 2 + 1) / 4 tokens, a quarter each


def test_layers_get_a_slider_of_their_own():
    weights = torch.randn(2, 3, 4, 4, generator=torch.Generator().manual_seed(0)).softmax(-1)
    widget = head_viewer(weights, TOKENS)
    assert list(widget.controls) == ["layer", "head"]
    widget.controls["layer"].value, widget.controls["head"].value = 1, 2
    assert torch.allclose(shown_weights(widget).float(), weights[1, 2])
    assert widget.figure.axes[0].get_title() == "layer 1 of 2, head 2 of 3"


@pytest.mark.parametrize(("shape", "tokens"), [((4, 4), TOKENS), ((3, 4, 5), TOKENS), ((3, 4, 4), TOKENS[:3])])
def test_other_shapes_are_refused(shape, tokens):
    with pytest.raises(ValueError, match="expected|for 4 positions"):
        head_viewer(torch.zeros(shape), tokens)
