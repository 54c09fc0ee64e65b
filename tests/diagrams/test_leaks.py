"""Losses that are too good and outputs that move: what was measured is what is drawn."""

import pytest
import torch

from course_utils.diagrams import moved_outputs, training_losses


def test_each_run_is_a_line_and_each_guesser_is_named_with_its_loss():
    losses = {"causal": [[3.0, 2.0], [3.1, 2.1]], "ahead": [[3.0, 0.1], [2.9, 0.0]]}
    ax = training_losses([6, 12], losses, {"pairs": 2.57}, "nats")
    assert [list(line.get_ydata()) for line in ax.lines[:4]] == [*losses["causal"], *losses["ahead"]]
    assert ax.lines[0].get_color() == ax.lines[1].get_color() != ax.lines[2].get_color()
    assert [text.get_text() for text in ax.get_legend().texts] == ["causal", "ahead"]
    assert [text.get_text() for text in ax.texts] == ["pairs: 2.57"] and ax.lines[4].get_ydata()[0] == 2.57


def test_a_bar_that_is_0_has_its_number_too():
    ax = moved_outputs({"causal": torch.zeros(3), "leaks": torch.tensor([0.0, 0.25, 0.5])})
    assert [patch.get_height() for patch in ax.patches] == pytest.approx([0, 0, 0, 0, 0.25, 0.5])
    assert [text.get_text() for text in ax.texts] == ["0", "0", "0", "0", "0.25", "0.50"]
