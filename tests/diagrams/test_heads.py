import pytest
import torch

from course_utils.diagrams import attention_lines


def test_a_line_for_each_weight_that_can_be_seen():
    weights = torch.tensor([[[0.99, 0.01, 0.0], [0.3, 0.3, 0.4]], [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]])  # (H, L_q, L_k)
    ax = attention_lines(weights, ["x", "y"], ["a", "b", "c"])
    assert len(ax.lines) == 4 + 3
    assert max(line.get_linewidth() for line in ax.lines) == ax.lines[4].get_linewidth()
    assert "head 1 most of all from 'x' to 'b'" in ax.get_label()


def test_what_does_not_fit(as_a_user):
    with pytest.raises(ValueError, match="at most 8 heads"):
        attention_lines(torch.ones(9, 1, 1), ["a"], ["a"])
    with pytest.raises(ValueError, match=r"queries \(1\)"):
        attention_lines(torch.ones(2, 2, 1), ["a"], ["a"])
    with pytest.raises(ValueError, match=r"names \(1\)"):
        attention_lines(torch.ones(2, 1, 1), ["a"], ["a"], ["one"])
