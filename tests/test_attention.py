"""Attention against PyTorch, against hand-worked numbers, and by its properties."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F

from course_utils.attention import (
    AdditiveAttention,
    masked_softmax,
    nadaraya_watson,
    scaled_dot_product_attention,
)

B, H, L_Q, L_K, D_K, D_V = 2, 4, 5, 7, 12, 3


def randn(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def qkv(dtype=torch.float32):
    shapes = ((B, H, L_Q, D_K), (B, H, L_K, D_K), (B, H, L_K, D_V))
    return [randn(*shape, seed=i, dtype=dtype) for i, shape in enumerate(shapes)]


def masks():
    rng = torch.Generator().manual_seed(3)
    padding = torch.ones(B, 1, 1, L_K, dtype=torch.bool)
    padding[0, ..., 5:] = False
    memory = torch.rand(B, H, L_Q, L_K, generator=rng) > 0.3
    memory[..., 0] = True
    causal = torch.ones(L_Q, L_K, dtype=torch.bool).tril(L_K - L_Q)
    return {"none": None, "padding": padding, "causal": causal, "full": memory, "combined": padding & causal}


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
    expected = mask.any(dim).float()
    torch.testing.assert_close(weights.sum(dim), expected)
    assert (weights[~mask] == 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_fully_masked_rows_give_zeros_and_zero_gradients(dtype):
    query, key, value = (tensor.requires_grad_() for tensor in qkv(dtype))
    mask = torch.ones(B, 1, L_Q, L_K, dtype=torch.bool)
    mask[1, :, 2] = False
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    assert (weights[1, :, 2] == 0).all() and (output[1, :, 2] == 0).all()
    output.sum().backward()
    for tensor in (query, key, value):
        assert torch.isfinite(tensor.grad).all()
    assert (query.grad[1, :, 2] == 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("name", "scale"), list(itertools.product(masks(), (None, 1.0, 0.05))))
def test_scaled_dot_product_attention_equals_pytorch(name, scale, dtype):
    query, key, value = qkv(dtype)
    mask = masks()[name]
    output, weights = scaled_dot_product_attention(query, key, value, mask, scale=scale)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale)
    torch.testing.assert_close(output, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, L_Q, dtype=dtype))


@pytest.mark.parametrize("shape", [(1, H, L_Q, L_K), (B, H, L_Q, L_K), (H, 1, L_K), (L_K,)])
@pytest.mark.parametrize("name", masks())
def test_score_bias_is_added_to_the_scaled_scores(name, shape):
    """PyTorch's function takes one mask: the bias, with minus infinity where nothing may be seen."""
    query, key, value = qkv()
    bias, mask = randn(*shape, seed=4), masks()[name]
    output, weights = scaled_dot_product_attention(query, key, value, mask, score_bias=bias)
    additive = bias.expand(B, H, L_Q, L_K) if mask is None else bias.masked_fill(~mask, -math.inf)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=additive)
    torch.testing.assert_close(output, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, L_Q))
    if mask is not None:
        assert (weights[~mask.expand_as(weights)] == 0).all()


def test_score_bias_can_be_learned_beside_a_fully_masked_row():
    query, key, value = qkv()
    bias = randn(H, L_Q, L_K).requires_grad_()
    mask = torch.ones(B, 1, L_Q, L_K, dtype=torch.bool)
    mask[:, :, 2] = False
    output, weights = scaled_dot_product_attention(query, key, value, mask, score_bias=bias)
    assert (weights[:, :, 2] == 0).all() and (output[:, :, 2] == 0).all()
    output.pow(2).sum().backward()
    assert torch.isfinite(bias.grad).all() and (bias.grad[:, 2] == 0).all() and (bias.grad[:, 1] != 0).all()


def test_gradients_equal_pytorch():
    grads = []
    for function in (lambda *a: scaled_dot_product_attention(*a)[0], F.scaled_dot_product_attention):
        inputs = [tensor.requires_grad_() for tensor in qkv()]
        function(*inputs, masks()["combined"]).pow(2).sum().backward()
        grads.append([tensor.grad for tensor in inputs])
    for mine, theirs in zip(*grads, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-4)


def test_half_precision_does_not_overflow():
    query = torch.full((1, 2, 64), 40.0, dtype=torch.float16)  # q . k = 102,400 > 65,504, the largest float16
    output, weights = scaled_dot_product_attention(query, query, query)
    assert torch.isfinite(output).all() and torch.isfinite(weights).all()


def test_permuting_keys_and_values_together_changes_nothing():
    query, key, value = qkv()
    order = torch.randperm(L_K, generator=torch.Generator().manual_seed(0))
    output, weights = scaled_dot_product_attention(query, key, value)
    shuffled, shuffled_weights = scaled_dot_product_attention(query, key[..., order, :], value[..., order, :])
    torch.testing.assert_close(shuffled, output)
    torch.testing.assert_close(shuffled_weights, weights[..., order])


def test_works_without_batch_dimensions_and_leaves_its_inputs_alone():
    query, key, value = (tensor[0, 0] for tensor in qkv())
    before = [tensor.clone() for tensor in (query, key, value)]
    output, weights = scaled_dot_product_attention(query, key, value, torch.ones(L_Q, L_K, dtype=torch.bool))
    assert output.shape == (L_Q, D_V) and weights.shape == (L_Q, L_K)
    assert all(torch.equal(a, b) for a, b in zip(before, (query, key, value), strict=True))


def test_dropout_hands_back_the_weights_that_were_applied():
    query, key, value = qkv()
    torch.manual_seed(0)
    output, weights = scaled_dot_product_attention(query, key, value, dropout_p=0.5)
    assert 0.3 < (weights == 0).float().mean() < 0.7
    torch.testing.assert_close(output, weights @ value)


def test_nadaraya_watson_by_hand():
    prediction, weights = nadaraya_watson(
        torch.tensor([0.0]), torch.tensor([0.0, 2.0]), torch.tensor([1.0, 5.0]), bandwidth=2.0
    )
    ratio = math.exp(-0.5)  # exp(-2^2 / (2 * 2^2))
    torch.testing.assert_close(weights, torch.tensor([[1.0, ratio]]) / (1 + ratio))
    assert prediction.item() == pytest.approx((1 + 5 * ratio) / (1 + ratio))


def test_nadaraya_watson_limits():
    x_query, x_key, y_key = randn(5), randn(7, seed=1), randn(7, seed=2)
    wide, _ = nadaraya_watson(x_query, x_key, y_key, 1e6)
    torch.testing.assert_close(wide, y_key.mean().expand(5))
    narrow, weights = nadaraya_watson(x_query, x_key, y_key, 1e-4)
    nearest = (x_query[:, None] - x_key).abs().argmin(-1)
    torch.testing.assert_close(narrow, y_key[nearest])
    assert weights.argmax(-1).tolist() == nearest.tolist()


def test_nadaraya_watson_bandwidth_can_be_learned():
    bandwidth = torch.tensor(1.0, requires_grad=True)
    nadaraya_watson(randn(5), randn(7, seed=1), randn(7, seed=2), bandwidth)[0].sum().backward()
    assert bandwidth.grad.isfinite() and bandwidth.grad != 0


def test_additive_attention_index_by_index():
    torch.manual_seed(0)
    layer = AdditiveAttention(d_query=6, d_key=3, d_hidden=8)
    query, key, value = randn(B, L_Q, 6), randn(B, L_K, 3, seed=1), randn(B, L_K, 4, seed=2)
    output, weights = layer(query, key, value)
    scores = torch.zeros(B, L_Q, L_K)
    for b, i, j in itertools.product(range(B), range(L_Q), range(L_K)):
        hidden = torch.tanh(layer.q_proj.weight @ query[b, i] + layer.k_proj.weight @ key[b, j])
        scores[b, i, j] = layer.v_proj.weight[0] @ hidden
    torch.testing.assert_close(weights, scores.softmax(-1), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(output, weights @ value)


def test_additive_attention_mask():
    layer = AdditiveAttention(6, 3, 8)
    mask = torch.ones(B, 1, L_K, dtype=torch.bool)
    mask[0, :, 4:] = False
    _, weights = layer(randn(B, L_Q, 6), randn(B, L_K, 3, seed=1), randn(B, L_K, 4, seed=2), mask)
    assert (weights[0, :, 4:] == 0).all() and (weights[1] > 0).all()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda q, k, v: masked_softmax(q, torch.ones(L_Q, D_K)), TypeError, ["float32", "mask.bool()", "mask == 0"]),
        (lambda q, k, v: masked_softmax(q, torch.ones(9, dtype=torch.bool)), ValueError, ["(9,)", "broadcast"]),
        (lambda q, k, v: scaled_dot_product_attention(q, k[..., :5], v), ValueError, ["12", "5", "AdditiveAttention"]),
        (lambda q, k, v: scaled_dot_product_attention(q, k, v[..., :6, :]), ValueError, ["7 keys", "6 values"]),
        (lambda q, k, v: scaled_dot_product_attention(q[:1], k, v), ValueError, ["(1, 4)", "(2, 4)"]),
        (lambda q, k, v: scaled_dot_product_attention(q[0, 0, 0], k, v), ValueError, ["query", "(12,)"]),
        (lambda q, k, v: scaled_dot_product_attention(q, k, v, dropout_p=1.0), ValueError, ["dropout_p (1.0)"]),
        (lambda q, k, v: scaled_dot_product_attention(q, k, v, torch.ones(5, 5).bool()), ValueError, ["(5, 5)"]),
        (
            lambda q, k, v: scaled_dot_product_attention(q, k, v, score_bias=torch.ones(L_Q, L_K).bool()),
            TypeError,
            ["score_bias", "torch.bool", "mask="],
        ),
        (
            lambda q, k, v: scaled_dot_product_attention(q, k, v, score_bias=torch.ones(5, 5)),
            ValueError,
            ["score_bias of shape (5, 5)", "(2, 4, 5, 7)"],
        ),
        (lambda q, k, v: nadaraya_watson(q[0, 0, 0], k[0, 0, 0], k[0, 0, 1], 0.0), ValueError, ["bandwidth (0)"]),
        (lambda q, k, v: nadaraya_watson(q[0, 0, 0], k[0, 0, 0], v[0, 0, 0], 1.0), ValueError, ["(12,)", "(3,)"]),
        (lambda q, k, v: AdditiveAttention(0, 3, 8), ValueError, ["d_query (0)"]),
        (lambda q, k, v: AdditiveAttention(12, 3, 8)(q, k, v), ValueError, ["key", "12", "3"]),
    ],
)
@pytest.mark.usefixtures("as_a_user")
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error) as caught:
        call(*qkv())
    assert all(word in str(caught.value) for word in words), str(caught.value)
