"""Attention against PyTorch, against hand-worked numbers, and by its properties.

Masks, biases and rows in which everything is hidden are tried in ``test_multi_head.py``, on both paths.
"""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from tensors import randn

from course_utils.attention import AdditiveAttention, masked_softmax, nadaraya_watson, scaled_dot_product_attention
from course_utils.masks import causal_mask

B, H, L_Q, L_K, D_K, D_V = 2, 4, 5, 7, 12, 3


def qkv(dtype=torch.float32):
    shapes = ((B, H, L_Q, D_K), (B, H, L_K, D_K), (B, H, L_K, D_V))
    return [randn(*shape, seed=i, dtype=dtype) for i, shape in enumerate(shapes)]


def test_masked_softmax_by_hand():
    weights = masked_softmax(torch.tensor([0.0, math.log(3.0), 100.0]), torch.tensor([True, True, False]))
    torch.testing.assert_close(weights, torch.tensor([0.25, 0.75, 0.0]))


def test_masked_softmax_is_stable_and_ignores_a_shift():
    scores = randn(3, 5)
    torch.testing.assert_close(masked_softmax(scores + 1000), masked_softmax(scores), atol=1e-4, rtol=1e-4)
    assert torch.isfinite(masked_softmax(scores * 1e4)).all()


@pytest.mark.parametrize("dim", [-1, -2, 0])
def test_masked_softmax_normalizes_the_dimension_that_is_asked_for(dim):
    mask = randn(3, 5, 4, seed=1) > -1.0
    weights = masked_softmax(randn(3, 5, 4), mask, dim=dim)
    torch.testing.assert_close(weights.sum(dim), mask.any(dim).float())
    assert (weights[~mask] == 0).all()


@pytest.mark.parametrize("scale", [None, 1.0, 0.05])
@pytest.mark.parametrize("mask", [None, causal_mask(L_Q, L_K), causal_mask(L_Q, L_K)[0, 0]])
def test_output_and_gradients_equal_pytorchs(mask, scale):
    results = []
    for function in (lambda *a, **o: scaled_dot_product_attention(*a, **o)[0], F.scaled_dot_product_attention):
        inputs = [tensor.requires_grad_() for tensor in qkv()]
        before = [tensor.detach().clone() for tensor in inputs]
        output = function(*inputs, mask, scale=scale)
        output.pow(2).sum().backward()
        assert all(torch.equal(a, b) for a, b in zip(before, inputs, strict=True))
        results.append([output, *(tensor.grad for tensor in inputs)])
    for mine, theirs in zip(*results, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-4)


def test_works_without_batch_dimensions():
    query, key, value = qkv(torch.float64)
    output, weights = scaled_dot_product_attention(query[0, 0], key[0, 0], value[0, 0])
    whole = scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close((output, weights), tuple(part[0, 0] for part in whole))


def test_half_precision_does_not_overflow():
    query = torch.full((1, 2, 64), 40.0, dtype=torch.float16)  # q . k = 102,400 > 65,504, the largest float16
    output, weights = scaled_dot_product_attention(query, query, query)
    assert torch.isfinite(output).all() and torch.isfinite(weights).all()


def test_dropout_hands_back_the_weights_that_were_applied():
    query, key, value = qkv()
    torch.manual_seed(0)
    output, weights = scaled_dot_product_attention(query, key, value, dropout_p=0.5)
    assert 0.3 < (weights == 0).float().mean() < 0.7
    torch.testing.assert_close(output, weights @ value)


def test_nadaraya_watson_by_hand_and_with_a_bandwidth_that_is_learned():
    bandwidth = torch.tensor(2.0, requires_grad=True)
    x_query, x_key, y_key = torch.tensor([0.0, 2.0]), torch.tensor([0.0, 2.0]), torch.tensor([1.0, 5.0])
    prediction, weights = nadaraya_watson(x_query, x_key, y_key, bandwidth)
    ratio = math.exp(-0.5)  # exp(-2^2 / (2 * 2^2))
    torch.testing.assert_close(weights, torch.tensor([[1.0, ratio], [ratio, 1.0]]) / (1 + ratio))
    assert prediction.tolist() == pytest.approx([(1 + 5 * ratio) / (1 + ratio), (ratio + 5) / (1 + ratio)])
    prediction[0].backward()
    assert bandwidth.grad.isfinite() and bandwidth.grad != 0


def test_additive_attention_index_by_index():
    torch.manual_seed(0)
    layer = AdditiveAttention(d_query=6, d_key=3, d_hidden=8)
    query, key, value = randn(B, L_Q, 6), randn(B, L_K, 3, seed=1), randn(B, L_K, 4, seed=2)
    mask = torch.ones(B, 1, L_K, dtype=torch.bool)
    mask[0, :, 4:] = False
    output, weights = layer(query, key, value, mask)
    scores = torch.full((B, L_Q, L_K), -math.inf)
    for b, i, j in itertools.product(range(B), range(L_Q), range(L_K)):
        if mask[b, 0, j]:
            hidden = torch.tanh(layer.q_proj.weight @ query[b, i] + layer.k_proj.weight @ key[b, j])
            scores[b, i, j] = layer.v_proj.weight[0] @ hidden
    torch.testing.assert_close(weights, scores.softmax(-1), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(output, weights @ value)


def attend(**changes):
    query, key, value = qkv()
    return scaled_dot_product_attention(**{"query": query, "key": key, "value": value, **changes})


Q, K, V = qkv()
ROW = Q[0, 0, 0]  # (12,)
BOOLEAN = torch.ones(L_Q, L_K, dtype=torch.bool)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: masked_softmax(Q, torch.ones(L_Q, D_K)), r"float32.*mask\.bool\(\).*mask == 0"),
        (lambda: masked_softmax(Q, torch.ones(9).bool()), r"mask of shape \(9,\) does not broadcast"),
        (lambda: attend(key=K[..., :5]), "12.*5.*AdditiveAttention"),
        (lambda: attend(value=V[..., :6, :]), "7 keys but 6 values"),
        (lambda: attend(query=Q[:1]), r"\(1, 4\), key \(2, 4\)"),
        (lambda: attend(query=ROW), r"query has shape \(12,\); expected \(\.\.\., length, size\)"),
        (lambda: attend(dropout_p=1.0), r"dropout_p \(1\.0\) must be at least 0 and below 1"),
        (lambda: attend(dropout_p=-0.1), r"dropout_p \(-0\.1\)"),
        (lambda: attend(dropout_p=math.nan), r"dropout_p \(nan\)"),
        (lambda: attend(mask=BOOLEAN[:, :5]), r"mask of shape \(5, 5\).*\(2, 4, 5, 7\)"),
        (lambda: attend(score_bias=BOOLEAN), r"score_bias has dtype torch\.bool.*mask="),
        (lambda: attend(score_bias=torch.ones(5, 5)), r"score_bias of shape \(5, 5\).*\(2, 4, 5, 7\)"),
        (lambda: nadaraya_watson(ROW, ROW, ROW, 0.0), r"bandwidth \(0\)"),
        (lambda: nadaraya_watson(ROW, ROW, ROW[:3], 1.0), r"\(12,\), y_key \(3,\)"),
        (lambda: AdditiveAttention(0, 3, 8), r"d_query \(0\) must be at least 1"),
        (lambda: AdditiveAttention(12, 3, 8)(Q, K, V), "key has size 12 in its last dimension, this layer expects 3"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
