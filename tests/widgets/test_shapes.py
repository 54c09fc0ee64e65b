"""The shape viewer: frames stand where the numbers come from."""

import pytest
import torch

from course_utils.widgets import shapes


def test_shape_viewer_marks_the_sources_of_an_entry():
    x, y = torch.arange(12).view(3, 4), torch.arange(12, 20).view(2, 4)
    used_x, used_y = shapes._sources("torch.einsum('id,jd->ij', x, y)", x, y, entry=3)  # row 1, column 1 of (3, 2)
    assert used_x.nonzero()[:, 0].unique().tolist() == [1] and used_y.nonzero()[:, 0].unique().tolist() == [1]
    used_x, _ = shapes._sources("x.transpose(0, 1)", x, y, entry=1)  # [0, 1] of (4, 3) is [1, 0] of x
    assert used_x.nonzero().tolist() == [[1, 0]]


def test_only_listed_operations_are_evaluated():
    with pytest.raises(ValueError, match="not one of"):
        shapes._evaluate("__import__('os')", torch.ones(1), torch.ones(1))
