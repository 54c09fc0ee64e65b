"""Multi-head attention against PyTorch's module and Hugging Face's Llama attention, and by its properties."""

import pytest
import torch
from pytorch_weights import copy_attention
from tensors import randn
from torch import nn

from course_utils.kv_cache import KVCache
from course_utils.masks import AttentionMask, causal_mask, combine_masks, padding_mask
from course_utils.multi_head import MultiHeadAttention, merge_heads, repeat_kv, split_heads
from course_utils.positions import RotaryPositions, alibi_bias

B, H, L_Q, L_K, D_MODEL = 2, 4, 5, 7, 12
TOKENS = torch.tensor([[5, 3, 8, 8, 2, 0, 0], [1, 2, 3, 4, 5, 6, 7]])


def masks():
    memory = randn(B, H, L_Q, L_K, seed=3) > -0.5
    memory[..., 0] = True
    return {
        "none": None,
        "padding": padding_mask(TOKENS, 0),
        "causal": causal_mask(L_Q, L_K),
        "memory": memory,
        "combined": combine_masks(padding_mask(TOKENS, 0), causal_mask(L_Q, L_K)),
        "keys": TOKENS[0] != 0,
    }


PATHS = pytest.mark.parametrize("fused", [True, False])


def attend(layer, *inputs, fused, **options):
    """The output and the weights; the fused path has none of these."""
    return (layer(*inputs, **options), None) if fused else layer(*inputs, **options, return_weights=True)


def pair(dtype=torch.float32):
    """Ours and PyTorch's with the same weights."""
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(D_MODEL, H, batch_first=True, dtype=dtype)
    nn.init.normal_(theirs.in_proj_bias)
    ours = MultiHeadAttention(D_MODEL, H).to(dtype)
    copy_attention(ours, theirs)
    return ours, theirs


def test_split_by_hand_and_back():
    x = torch.arange(2 * 3 * 4).view(2, 3, 4).float()
    heads = split_heads(x, 2)
    assert heads.shape == (2, 2, 3, 2)
    assert heads[0, 1].tolist() == [[2, 3], [6, 7], [10, 11]]  # the second half of each token of the first item
    assert torch.equal(merge_heads(heads), x)


def test_repeat_kv_is_repeat_interleave():
    x = randn(B, 3, L_K, 4)
    assert torch.equal(repeat_kv(x, 2), x.repeat_interleave(2, dim=1))
    assert torch.equal(repeat_kv(x, 2)[:, 3], x[:, 1])
    assert repeat_kv(x, 1) is x


def test_self_attention_and_bfloat16():
    ours, theirs = pair()
    x = randn(B, L_Q, D_MODEL)
    torch.testing.assert_close(ours(x), theirs(x, x, x)[0], atol=1e-5, rtol=1e-5)
    expected = ours(x)
    torch.testing.assert_close(ours.bfloat16()(x.bfloat16()).float(), expected, atol=0.05, rtol=0.05)


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("num_kv_heads", [4, 2, 1])
def test_grouped_heads_equal_hugging_face(num_kv_heads, rotary):
    """Llama's attention, small and random; once turned by angle zero, so that no positions enter, once with RoPE."""
    from transformers.models.llama import modeling_llama as llama

    d_model = 24  # heads of 6: even, as RoPE needs
    config = llama.LlamaConfig(
        hidden_size=d_model, num_attention_heads=H, num_key_value_heads=num_kv_heads, attn_implementation="eager"
    )
    torch.manual_seed(0)
    theirs = llama.LlamaAttention(config, layer_idx=0).eval()
    positions = RotaryPositions(d_model // H, max_len=L_K) if rotary else None
    ours = MultiHeadAttention(d_model, H, num_kv_heads=num_kv_heads, bias=False, rotary=positions)
    ours.load_state_dict(theirs.state_dict())
    x, mask = randn(B, L_K, d_model), combine_masks(padding_mask(TOKENS, 0), causal_mask(L_K))
    additive = torch.zeros(B, 1, L_K, L_K).masked_fill(~mask, -1e30)
    cos_sin = torch.ones(B, L_K, d_model // H), torch.zeros(B, L_K, d_model // H)
    if rotary:
        cos_sin = llama.LlamaRotaryEmbedding(config)(x, torch.arange(L_K)[None])
    expected, expected_weights = theirs(x, cos_sin, additive)
    output, weights = ours(x, mask=mask, return_weights=True)
    for actual, wanted in ((output, expected), (ours(x, mask=mask), expected), (weights, expected_weights)):
        torch.testing.assert_close(actual, wanted, atol=1e-5, rtol=1e-5)


@PATHS
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_fully_masked_rows_give_zeros_and_finite_gradients(fused, with_bias, dtype):
    torch.manual_seed(0)
    layer = MultiHeadAttention(D_MODEL, H, num_kv_heads=2, bias=False).to(dtype)
    x, bias = randn(B, L_Q, D_MODEL, dtype=dtype).requires_grad_(), randn(H, L_Q, L_Q, seed=1).requires_grad_()
    mask = torch.ones(B, 1, L_Q, L_Q, dtype=torch.bool)
    mask[:, :, 2] = False
    output, weights = attend(layer, x, mask=mask, score_bias=bias if with_bias else None, fused=fused)
    assert (output[:, 2] == 0).all() and torch.isfinite(output).all()
    assert fused or (weights[:, :, 2] == 0).all()
    with torch.autograd.set_detect_anomaly(True):  # no NaN on the way back, not even one that a mask would hide
        output.float().pow(2).sum().backward()
    for gradient in (x.grad, *(parameter.grad for parameter in layer.parameters())):
        assert torch.isfinite(gradient).all()
    if with_bias:
        assert torch.isfinite(bias.grad).all() and (bias.grad[:, 2] == 0).all() and (bias.grad[:, 1] != 0).any()


@PATHS
def test_nothing_leaks_from_the_future(fused):
    torch.manual_seed(0)
    layer = MultiHeadAttention(D_MODEL, H)
    x = randn(1, L_K, D_MODEL).requires_grad_()
    output, _ = attend(layer, x, mask=causal_mask(L_K), fused=fused)
    for i in range(L_K - 1):
        (gradient,) = torch.autograd.grad(output[0, i].sum(), x, retain_graph=True)
        assert (gradient[0, i + 1 :] == 0).all() and (gradient[0, : i + 1] != 0).any()


def biases():
    return {
        "none": None,
        "alibi": alibi_bias(H, L_Q, L_K),
        "full": randn(B, H, L_Q, L_K, seed=5),
        "keys": randn(L_K, seed=6),
    }


@pytest.mark.parametrize("bias", biases())
@pytest.mark.parametrize("name", masks())
def test_both_paths_equal_pytorchs_module(name, bias):
    """PyTorch's module adds a float mask to the scaled scores: the bias, minus infinity where nothing may be seen."""
    ours, theirs = pair(torch.float64)
    query, key, value = (randn(B, n, D_MODEL, seed=i, dtype=torch.float64) for i, n in enumerate((L_Q, L_K, L_K)))
    mask, score_bias = masks()[name], biases()[bias]
    additive = torch.zeros(B, H, L_Q, L_K, dtype=torch.float64) if score_bias is None else score_bias.double()
    if mask is not None:
        additive = additive.expand(B, H, L_Q, L_K).masked_fill(~mask, -torch.inf)
    additive = additive.expand(B, H, L_Q, L_K).reshape(B * H, L_Q, L_K)
    expected, expected_weights = theirs(query, key, value, attn_mask=additive, average_attn_weights=False)
    output, weights = ours(query, key, value, mask=mask, score_bias=score_bias, return_weights=True)
    fused = ours(query, key, value, mask=mask, score_bias=score_bias)
    for actual, wanted in ((output, expected), (fused, expected), (weights, expected_weights)):
        torch.testing.assert_close(actual, wanted, atol=1e-6, rtol=1e-6)


@PATHS
def test_keys_and_values_projected_beforehand(fused):
    torch.manual_seed(0)
    layer = MultiHeadAttention(D_MODEL, H, num_kv_heads=2)
    query, memory = randn(B, L_Q, D_MODEL), randn(B, L_K, D_MODEL, seed=1)
    options = {"mask": padding_mask(TOKENS, 0), "fused": fused}
    projected = layer.project_key_value(memory, memory)
    assert [tuple(tensor.shape) for tensor in projected] == [(B, 2, L_K, 3)] * 2
    expected = attend(layer, query, memory, memory, **options)
    torch.testing.assert_close(attend(layer, query, projected=projected, **options), expected)


@PATHS
def test_rotary_scores_do_not_see_where_the_sequence_starts(fused):
    """Shifted as a whole, a sequence gives the same output; without its order, it does not."""
    torch.manual_seed(0)
    x = randn(B, L_Q, D_MODEL)
    layer = MultiHeadAttention(D_MODEL, 2, rotary=RotaryPositions(6, max_len=40))
    assert set(layer.state_dict()) == set(MultiHeadAttention(D_MODEL, 2).state_dict())
    output, _ = attend(layer, x, fused=fused)
    with torch.no_grad():
        cache = KVCache(B, 2, 40, 6)
        cache.update(torch.zeros(B, 2, 30, 6), torch.zeros(B, 2, 30, 6))
        mask = (torch.arange(30 + L_Q) >= 30).expand(L_Q, -1)
        shifted, _ = attend(layer, x, cache=cache, mask=mask, fused=fused)
    torch.testing.assert_close(shifted, output, atol=1e-5, rtol=1e-5)
    assert (layer(x.flip(1)).flip(1) - output).abs().max() > 1e-3


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("steps", [[1] * L_K, [3, 2, 2], [L_K]])
@pytest.mark.parametrize("num_kv_heads", [4, 2, 1])
@torch.no_grad()
def test_cached_equals_uncached(num_kv_heads, steps, rotary):
    torch.manual_seed(0)
    positions = RotaryPositions(6, max_len=L_K) if rotary else None
    layer = MultiHeadAttention(24, H, num_kv_heads=num_kv_heads, rotary=positions)
    x = randn(B, L_K, 24)
    whole = layer(x, mask=causal_mask(L_K))
    cache, pieces, start = KVCache(B, num_kv_heads, L_K, 6), [], 0
    for step in steps:
        end = start + step
        pieces.append(layer(x[:, start:end], mask=causal_mask(step, end), cache=cache))
        start = end
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole, atol=1e-5, rtol=1e-5)


def test_dropout_only_in_training():
    layer = MultiHeadAttention(D_MODEL, H, dropout=0.5)
    x = randn(B, L_Q, D_MODEL)
    _, weights = layer(x, return_weights=True)
    assert (weights == 0).any()
    layer.eval()
    torch.testing.assert_close(layer(x), layer(x, return_weights=True)[0], atol=1e-6, rtol=1e-5)


LAYER = MultiHeadAttention(D_MODEL, H, num_kv_heads=2)
TURNED = MultiHeadAttention(D_MODEL, 2, rotary=RotaryPositions(6, max_len=4))
KV = (torch.ones(B, 2, L_K, 3), torch.ones(B, 2, L_K, 3))
X = torch.ones(B, L_Q, D_MODEL)
TWO_KEYS = (X[:, :2], X[:, :2])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MultiHeadAttention(512, 5), r"num_heads \(5\) must divide d_model \(512\)"),
        (lambda: MultiHeadAttention(12, 4, num_kv_heads=3), r"num_kv_heads \(3\) must divide num_heads \(4\)"),
        (lambda: MultiHeadAttention(12, 4, num_kv_heads=0), r"num_kv_heads \(0\)"),
        (lambda: MultiHeadAttention(0, 4), r"d_model \(0\)"),
        (lambda: MultiHeadAttention(12, 4, dropout=1.0), r"dropout \(1\.0\)"),
        (lambda: LAYER(X, X), "key is given without value"),
        (lambda: LAYER(X, value=X), "value is given without key"),
        (lambda: LAYER(X[0]), r"query has shape \(5, 12\); expected \(B, L, d_model=12\)"),
        (lambda: LAYER(X[..., :10]), r"query has shape \(2, 5, 10\)"),
        (lambda: LAYER(X, X[:1], X[:1]), "key has batch size 1, query has 2"),
        (lambda: LAYER(X, X, X[:1]), "value has batch size 1, query has 2"),
        (lambda: LAYER(X, X, X[:, :3]), "5 keys but 3 values"),
        (lambda: LAYER(X, mask=torch.ones(L_Q, L_Q)), r"float32.*mask\.bool\(\)"),
        (lambda: LAYER(X, mask=causal_mask(L_K)), r"\(1, 1, 7, 7\).*\(2, 4, 5, 5\)"),
        (lambda: LAYER(X, mask=torch.ones(7).bool()), r"mask of shape \(7,\) does not broadcast"),
        (lambda: LAYER(X, *TWO_KEYS, mask=AttentionMask(is_causal=True)), "hides the future of 2 keys from 5 queries"),
        (lambda: LAYER(X, cache=KVCache(B, 4, 9, 3)), r"key has shape \(2, 2, 5, 3\).*\(2, 4, L_new, 3\)"),
        (lambda: LAYER(X, cache=KVCache(B, 2, 3, 3)), "requires grad"),
        (lambda: MultiHeadAttention(12, 2, rotary=RotaryPositions(4)), "rotary.*d_head=4.*6"),
        (lambda: TURNED(X, X, X), "rotary.*cross-attention"),
        (lambda: TURNED(X, projected=KV), "rotary.*projected"),
        (lambda: TURNED(X), r"0 to 4 pass max_len \(4\)"),
        (lambda: LAYER(X, X, X, projected=KV), "projected.*without key"),
        (lambda: LAYER(X, cache=KVCache(B, 2, 9, 3), projected=KV), "projected.*cache"),
        (lambda: LAYER(X, projected=(X, X)), r"projected key has shape \(2, 5, 12\).*H_kv=2.*project_key_value"),
        (lambda: LAYER(X, projected=(KV[0], KV[1][:, :1])), r"projected value has shape \(2, 1, 7, 3\)"),
        (lambda: LAYER(X, projected=(KV[0][:1], KV[1][:1])), "key has batch size 1, query has 2"),
        (lambda: LAYER(X, projected=(KV[0], KV[1][:, :, :3])), "7 keys but 3 values"),
        (lambda: LAYER.project_key_value(X, X[..., :10]), r"value has shape \(2, 5, 10\)"),
        (lambda: LAYER(X, score_bias=torch.ones(L_Q, L_Q).bool()), r"score_bias has dtype torch\.bool.*mask="),
        (lambda: LAYER(X, score_bias=alibi_bias(H, L_K)), r"score_bias of shape \(1, 4, 7, 7\).*\(2, 4, 5, 5\)"),
        (lambda: split_heads(X, 5), r"num_heads \(5\) must divide d_model \(12\)"),
        (lambda: split_heads(X[0], 4), r"\(5, 12\); expected \(B, L, d_model\)"),
        (lambda: merge_heads(X), r"\(2, 5, 12\); expected \(B, H, L, d_head\)"),
        (lambda: repeat_kv(X[None], 0), r"num_repeats \(0\) must be at least 1"),
        (lambda: repeat_kv(X, 2), r"\(2, 5, 12\); expected \(B, H_kv, L, d_head\)"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


@torch.no_grad()
def test_a_full_cache_says_so():
    with pytest.raises(ValueError, match=r"overflow: 0 of 3.*max_len=5"):
        LAYER(X, cache=KVCache(B, 2, 3, 3))
