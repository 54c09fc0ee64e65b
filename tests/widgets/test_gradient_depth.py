"""The widget of gradients by depth: what is drawn is what was measured, and the measure is what it says."""

import pytest
import torch
import torch.nn.functional as F
from controls import move
from torch import nn

from course_utils.layers import EncoderLayer
from course_utils.widgets import gradient_by_depth
from course_utils.widgets.gradient_depth import DEPTHS, MATRICES, mean_cosine, measure


@pytest.fixture(scope="module")
def widget():
    return gradient_by_depth()


def drawn(widget, num_layers, matrix="feed-forward: down_proj", start="full size"):
    move(widget, num_layers=num_layers, matrix=matrix, start=start)
    return [{line.get_label(): torch.tensor(line.get_ydata()) for line in ax.lines} for ax in widget.figure.axes]


def test_the_first_state_is_what_the_lesson_says(widget):
    assert widget.figure.axes[0].get_title() == "24 layers, attention: q_proj"
    queries, alike = drawn(widget, 24, "attention: q_proj")
    assert queries["post-norm"][-1] < 1e-4 * queries["post-norm"][0] and queries["pre-norm"][-1] > 0.01
    assert alike["post-norm"][-1] > 0.99


def test_a_small_start_keeps_gradients_level_and_tokens_apart(widget):
    queries, alike = drawn(widget, 12, "attention: q_proj", "times 1/sqrt(2N)")
    assert queries["post-norm"][-1] > 0.5 * queries["post-norm"][0] and alike["post-norm"][-1] < 0.3


def test_twelve_layers(widget):
    gradients, alike = drawn(widget, 12)
    assert gradients["pre-norm"][-1] < 0.5 * gradients["pre-norm"][0]
    assert gradients["post-norm"][-1] > 0.5 * gradients["post-norm"][0]
    assert alike["post-norm"][-1] > 0.95 > 0.9 > alike["pre-norm"][-1]
    queries, _ = drawn(widget, 12, "attention: q_proj")
    assert queries["post-norm"][-1] < 0.2 * queries["pre-norm"][-1]


@pytest.mark.parametrize("matrix", MATRICES)
def test_each_depth_shows_one_point_a_layer_inside_the_figure(widget, matrix):
    for depth in DEPTHS:
        gradients, alike = drawn(widget, depth, matrix)
        for values in (*gradients.values(), *alike.values()):
            assert len(values) == depth
        points = torch.cat(list(gradients.values()))
        low, high = widget.figure.axes[0].get_ylim()
        assert low < points.min() and points.max() < high, depth


def test_the_chosen_matrix_is_drawn(widget):
    expected = torch.stack([measure(4, False, seed) for seed in range(3)]).mean(dim=0)  # (4, 4)
    for matrix, (row, _) in MATRICES.items():
        gradients, alike = drawn(widget, 4, matrix)
        torch.testing.assert_close(gradients["post-norm"].float(), expected[row], rtol=1e-3, atol=0)
        torch.testing.assert_close(alike["post-norm"].float(), expected[3], rtol=1e-3, atol=0)


def test_mean_cosine_by_hand():
    """Cosines of the three pairs: 0, -1 and 0."""
    x = torch.tensor([[[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]]])
    assert mean_cosine(x) == pytest.approx(-1 / 3)
    assert mean_cosine(torch.ones(2, 4, 3)) == pytest.approx(1)


def test_gradients_are_those_of_pytorchs_layers():
    """The same numbers in a stack of ``nn.TransformerEncoderLayer``, drawn here in the order in which measure draws them."""
    torch.manual_seed(5)
    ours = [EncoderLayer(64, 4, 256, dropout=0.0, pre_norm=False) for _ in range(2)]
    classify = nn.Linear(64, 20)
    for part in (*nn.ModuleList(ours).modules(), classify):
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)
    x, target = torch.randn(8, 10, 64), torch.randint(0, 20, (8, 10))
    theirs = [nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True) for _ in range(2)]
    for layer, their_layer in zip(ours, theirs, strict=True):
        _copy_back(layer, their_layer)
        x = their_layer(x)
    F.cross_entropy(classify(x).flatten(0, 1), target.flatten()).backward()
    expected = torch.tensor([layer.linear2.weight.grad.norm() for layer in theirs])
    before = torch.get_rng_state()
    torch.testing.assert_close(measure(2, False, 5)[0], expected, rtol=1e-3, atol=0)
    assert torch.equal(before, torch.get_rng_state())  # measuring leaves the random numbers alone


@torch.no_grad()
def _copy_back(ours, theirs):
    attention = ours.self_attention
    theirs.self_attn.in_proj_weight.copy_(torch.cat([getattr(attention, f"{name}_proj").weight for name in "qkv"]))
    theirs.self_attn.in_proj_bias.zero_()
    theirs.self_attn.out_proj.load_state_dict(attention.o_proj.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.up_proj.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.down_proj.state_dict())
