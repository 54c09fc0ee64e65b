"""Masks by hand, by their definition entry by entry, and against PyTorch's causal kernel."""

import itertools

import pytest
import torch
import torch.nn.functional as F

from course_utils.masks import AttentionMask, causal_mask, combine_masks, padding_mask, sliding_window_mask


def test_padding_and_causal_mask_by_hand():
    mask = padding_mask(torch.tensor([[5, 7, 0, 0], [3, 0, 2, 9]]), pad_id=0)
    assert mask.shape == (2, 1, 1, 4) and mask.dtype == torch.bool
    assert mask[:, 0, 0].tolist() == [[True, True, False, False], [True, False, True, True]]
    assert causal_mask(2, 4)[0, 0].tolist() == [[True, True, True, False], [True, True, True, True]]


@pytest.mark.parametrize(("L_q", "L_k", "window"), [(5, 5, 2), (5, 7, 3), (1, 7, 4), (4, 9, 100), (3, 3, 1)])
def test_entry_by_entry(L_q, L_k, window):
    causal, sliding = causal_mask(L_q, L_k), sliding_window_mask(L_q, L_k, window=window)
    assert causal.shape == sliding.shape == (1, 1, L_q, L_k)
    for i, j in itertools.product(range(L_q), range(L_k)):
        behind = i + (L_k - L_q) - j
        assert causal[0, 0, i, j] == (behind >= 0)
        assert sliding[0, 0, i, j] == (0 <= behind < window)


def test_causal_equals_pytorchs_causal_kernel():
    query, key, value = (torch.randn(2, 4, 5, 8, generator=torch.Generator().manual_seed(i)) for i in range(3))
    ours = F.scaled_dot_product_attention(query, key, value, attn_mask=causal_mask(5))
    torch.testing.assert_close(ours, F.scaled_dot_product_attention(query, key, value, is_causal=True))


def test_combine():
    padding, causal = padding_mask(torch.tensor([[1, 2, 0], [1, 1, 1]]), 0), causal_mask(3)
    both = combine_masks(padding, None, causal)
    assert both.shape == (2, 1, 3, 3)
    assert torch.equal(both, padding & causal)
    assert combine_masks() is None and combine_masks(None, None) is None
    assert combine_masks(causal) is causal


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: padding_mask(torch.ones(3, dtype=torch.long), 0), r"tokens.*\(3,\).*\(B, L_k\)"),
        (lambda: padding_mask(torch.ones(2, 3), 0), "tokens.*float32.*whole numbers"),
        (lambda: causal_mask(0), r"L_q \(0\)"),
        (lambda: causal_mask(5, 3), r"L_k \(3\).*L_q \(5\).*first 2 queries"),
        (lambda: sliding_window_mask(5, window=0), r"window \(0\)"),
        (lambda: sliding_window_mask(5, window=-2), r"window \(-2\)"),
        (lambda: sliding_window_mask(5, 4, window=2), r"L_k \(4\)"),
        (lambda: combine_masks(causal_mask(3), torch.ones(3, 3)), r"float32.*mask\.bool\(\)"),
        (lambda: AttentionMask(torch.zeros(2, 2)), "float32"),
        (lambda: AttentionMask(causal_mask(2), is_causal=True), "allowed and is_causal"),
        (lambda: AttentionMask(is_causal=True).explicit(3, 5), "hides the future of 5 keys from 3 queries"),
        (lambda: combine_masks(causal_mask(3), causal_mask(4)), r"\(1, 1, 3, 3\).*\(1, 1, 4, 4\)"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


def test_a_prepared_mask_opens_rows_in_which_everything_is_hidden_and_says_which(monkeypatch):
    allowed = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
    opened, empty = AttentionMask(allowed).fused()
    assert opened.tolist() == [[True, False, True], [True, True, True], [True, True, True]]
    assert empty.tolist() == [[False], [True], [False]]
    rows = AttentionMask(causal_mask(3)).fused()
    assert torch.equal(rows[0], causal_mask(3)) and rows[1] is None
    for hides_nothing in (None, torch.ones(2, 1, 1, 3, dtype=torch.bool)):
        assert AttentionMask(hides_nothing).fused() == (None, None)
    mask = AttentionMask(causal_mask(3))
    worked_out = mask.fused()
    monkeypatch.setattr(torch.Tensor, "any", None)
    assert mask.fused() is worked_out  # once is enough
