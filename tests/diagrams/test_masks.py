import pytest
import torch

from course_utils.diagrams import mask_gallery
from course_utils.masks import causal_mask, padding_mask


def test_pairs_are_counted_and_batch_and_heads_give_their_first():
    mask = padding_mask(torch.tensor([[5, 6, 0], [5, 0, 0]]), 0)
    said = mask_gallery(["a", "b", "<pad>"], {"padding": mask, "causal": causal_mask(3)}).get_label()
    assert "padding: 6 of 9 pairs; causal: 6 of 9 pairs" in said


def test_what_does_not_fit(as_a_user):
    with pytest.raises(ValueError, match=r"masks\['m'\] has shape \(2, 2\); it must broadcast to \(3, 3\)"):
        mask_gallery(["a", "b", "c"], {"m": torch.ones(2, 2, dtype=torch.bool)})
    with pytest.raises(ValueError, match=r"tokens \(17\)"):
        mask_gallery(["a"] * 17, {"m": causal_mask(17)})
    with pytest.raises(ValueError, match="masks is empty"):
        mask_gallery(["a"], {})
