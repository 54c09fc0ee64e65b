import pytest
import torch

from course_utils.diagrams import running_softmax
from course_utils.diagrams.words import number


def test_it_ends_with_the_softmax_over_all_keys():
    scores, values = torch.randn(7, generator=torch.Generator().manual_seed(0)), torch.arange(7.0)
    expected = float(torch.softmax(scores, 0) @ values)
    for block in (1, 2, 3, 7):
        written = [text.get_text() for text in running_softmax(scores, values, block).texts]
        assert f"o / s = {number(expected)}" in written and f"block {-(-7 // block)}" in written


def test_the_old_sums_shrink_when_the_maximum_rises():
    ax = running_softmax(torch.tensor([1.0, 3, 12, 4]).log(), torch.tensor([4.0, 8, 16, 0]), 2)
    assert "old s, o\n× 0.25" in [text.get_text() for text in ax.texts]
    assert "after block 1: m = 1.1, s = 1.33, o = 9.33; after block 2: m = 2.48, s = 1.67, o = 18.3" in ax.get_label()


def test_what_does_not_fit(as_a_user):
    with pytest.raises(ValueError, match="equal length"):
        running_softmax(torch.ones(3), torch.ones(2), 1)
    with pytest.raises(ValueError, match=r"block \(4\) must be at least 1"):
        running_softmax(torch.ones(3), torch.ones(3), 4)
