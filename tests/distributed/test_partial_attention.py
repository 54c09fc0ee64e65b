"""Attention over some keys, merged into attention over all: no processes."""

import math

import pytest
import torch

from course_utils.attention import scaled_dot_product_attention
from course_utils.distributed.partial_attention import merge, partial_attention, partial_attention_backward
from course_utils.masks import causal_mask
from course_utils.multi_head import repeat_kv

B, H, H_KV, L_Q, L_K, D_K, D_V = 2, 4, 2, 5, 7, 6, 3


@pytest.fixture
def heads():
    rng = torch.Generator().manual_seed(0)
    shapes = ((B, H, L_Q, D_K), (B, H_KV, L_K, D_K), (B, H_KV, L_K, D_V))
    return [torch.randn(shape, generator=rng, dtype=torch.float64) for shape in shapes]


def whole(query, key, value, mask=None, scale=None):
    key, value = repeat_kv(key, 2), repeat_kv(value, 2)
    return scaled_dot_product_attention(query, key, value, mask, scale=scale)[0]


def close(first, second):
    torch.testing.assert_close(first, second, rtol=0, atol=1e-12)


@pytest.mark.parametrize("scale", [None, 0.3])
def test_the_parts_of_any_cut_merge_into_the_whole_in_any_order(heads, scale):
    query, key, value = heads
    mask = causal_mask(L_Q, L_K)
    parts = []
    for start, end in ((0, 1), (1, 5), (5, 7)):
        k = slice(start, end)
        parts.append(partial_attention(query, key[:, :, k], value[:, :, k], mask[..., k], scale))
    forward = merge(*merge(*parts[0], *parts[1]), *parts[2])
    back = merge(*parts[2], *merge(*parts[1], *parts[0]))
    close(forward[0], whole(*heads, mask, scale))
    close(back, forward)
    close(forward[1], partial_attention(*heads, mask, scale)[1])


def test_by_hand():
    """Two keys with scores 0 and log 3: sums 1 and 3, so the second value counts three times as much."""
    query, key = torch.tensor([[[[1.0]]]]), torch.tensor([[[[0.0], [math.log(3)]]]])
    value = torch.tensor([[[[4.0], [8.0]]]])
    first = partial_attention(query, key[:, :, :1], value[:, :, :1], scale=1.0)
    second = partial_attention(query, key[:, :, 1:], value[:, :, 1:], scale=1.0)
    assert first[1].item() == 0.0 and second[1].item() == pytest.approx(math.log(3))
    output, lse = merge(*first, *second)
    assert output.item() == pytest.approx(7.0) and lse.item() == pytest.approx(math.log(4))


def test_a_query_that_sees_nothing_is_zero_and_changes_nothing(heads):
    nothing = torch.zeros(L_Q, L_K, dtype=torch.bool)
    empty = partial_attention(*heads, nothing)
    assert empty[0].eq(0).all() and empty[1].eq(-math.inf).all()
    full = partial_attention(*heads)
    close(merge(*full, *empty), full)
    close(merge(*empty, *empty), empty)


def test_large_scores_do_not_overflow(heads):
    query, key, value = heads
    parts = [partial_attention(query * 1e4, key[:, :, k], value[:, :, k]) for k in (slice(0, 3), slice(3, 7))]
    close(merge(*parts[0], *parts[1])[0], whole(query * 1e4, key, value))


@pytest.mark.parametrize("masked", [False, True])
def test_gradients_of_parts_add_up_to_those_of_autograd(heads, masked):
    mask = causal_mask(L_Q, L_K) if masked else torch.ones(1, 1, L_Q, L_K, dtype=torch.bool)
    mask = mask.clone()
    mask[..., 1, :] = False  # a query that sees nothing
    query, key, value = (x.clone().requires_grad_() for x in heads)
    output = whole(query, key, value, mask)
    d_output = torch.randn(output.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    output.backward(d_output)
    lse = partial_attention(*heads, mask)[1]
    dot = (d_output * output.detach()).sum(-1)
    d_query, d_keys, d_values = torch.zeros_like(heads[0]), [], []
    for k in (slice(0, 3), slice(3, 7)):
        at = heads[0], heads[1][:, :, k], heads[2][:, :, k], d_output, lse, dot, mask[..., k]
        part, d_key, d_value = partial_attention_backward(*at)
        d_query += part
        d_keys.append(d_key)
        d_values.append(d_value)
    close(d_query, query.grad)
    close(torch.cat(d_keys, 2), key.grad)
    close(torch.cat(d_values, 2), value.grad)


def test_half_precision_is_computed_in_float32(heads):
    output, lse = partial_attention(*(x.bfloat16() for x in heads))
    assert output.dtype == lse.dtype == torch.float32


def test_bad_shapes_are_named(as_a_user, heads):
    query, key, value = heads
    with pytest.raises(ValueError, match=r"key has shape \(2, 2, 7, 5\); expected \(B=2, H_kv, L_k, d_k=6\)"):
        partial_attention(query, key[..., :5], value)
    with pytest.raises(ValueError, match=r"H_kv \(3\) must divide H \(4\)"):
        partial_attention(query, key.repeat(1, 2, 1, 1)[:, :3], value.repeat(1, 2, 1, 1)[:, :3])
    output, lse = partial_attention(query, key, value)
    with pytest.raises(ValueError, match="lse_2 has shape"):
        merge(output, lse, output, lse[..., :3])
    with pytest.raises(TypeError, match="bool"):
        partial_attention(query, key, value, torch.ones(L_Q, L_K))
