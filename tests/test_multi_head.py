"""Multi-head attention against PyTorch's module and Hugging Face's Llama attention, and by its properties."""

import copy
import itertools

import pytest
import torch
from torch import nn

from course_utils.kv_cache import KVCache
from course_utils.masks import causal_mask, combine_masks, padding_mask
from course_utils.multi_head import MultiHeadAttention, merge_heads, repeat_kv, split_heads
from course_utils.positions import RotaryPositions, alibi_bias

B, H, L_Q, L_K, D_MODEL = 2, 4, 5, 7, 12
TOKENS = torch.tensor([[5, 3, 8, 8, 2, 0, 0], [1, 2, 3, 4, 5, 6, 7]])


def randn(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


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


def pair(dtype=torch.float32):
    """Ours and PyTorch's with the same weights."""
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(D_MODEL, H, batch_first=True, dtype=dtype)
    nn.init.normal_(theirs.in_proj_bias)
    ours = MultiHeadAttention(D_MODEL, H).to(dtype)
    with torch.no_grad():
        weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
        for name, weight, bias in zip(("q_proj", "k_proj", "v_proj"), weights, biases, strict=True):
            getattr(ours, name).weight.copy_(weight)
            getattr(ours, name).bias.copy_(bias)
        ours.o_proj.load_state_dict(theirs.out_proj.state_dict())
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", masks())
def test_both_paths_equal_pytorchs_module(name, dtype):
    ours, theirs = pair(dtype)
    query, key, value = (randn(B, n, D_MODEL, seed=i, dtype=dtype) for i, n in enumerate((L_Q, L_K, L_K)))
    mask = masks()[name]
    converted = None if mask is None else ~mask.expand(B, H, L_Q, L_K).reshape(B * H, L_Q, L_K)
    expected, expected_weights = theirs(query, key, value, attn_mask=converted, average_attn_weights=False)
    output, weights = ours(query, key, value, mask=mask, return_weights=True)
    fused = ours(query, key, value, mask=mask)
    for got, want in ((output, expected), (fused, expected), (weights, expected_weights)):
        torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-5)


def test_self_attention_and_bfloat16():
    ours, theirs = pair()
    x = randn(B, L_Q, D_MODEL)
    torch.testing.assert_close(ours(x), theirs(x, x, x)[0], atol=1e-5, rtol=1e-5)
    half = copy.deepcopy(ours).bfloat16()
    torch.testing.assert_close(half(x.bfloat16()).float(), ours(x), atol=0.05, rtol=0.05)


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
    for got, want in ((output, expected), (ours(x, mask=mask), expected), (weights, expected_weights)):
        torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-5)


def test_equal_head_counts_give_multi_head_attention():
    torch.manual_seed(0)
    grouped, full = MultiHeadAttention(D_MODEL, H, num_kv_heads=2), MultiHeadAttention(D_MODEL, H)
    state = grouped.state_dict()
    for name in ("k_proj", "v_proj"):
        for part in ("weight", "bias"):
            tensor = state[f"{name}.{part}"]
            heads = tensor.view(2, D_MODEL // H, *tensor.shape[1:])
            state[f"{name}.{part}"] = heads.repeat_interleave(2, dim=0).reshape(D_MODEL, *tensor.shape[1:])
    full.load_state_dict(state)
    x = randn(B, L_Q, D_MODEL)
    torch.testing.assert_close(grouped(x), full(x), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(
    ("fused", "dtype"), list(itertools.product((True, False), (torch.float32, torch.float16, torch.bfloat16)))
)
def test_fully_masked_rows_give_zeros_and_finite_gradients(fused, dtype):
    torch.manual_seed(0)
    layer = MultiHeadAttention(D_MODEL, H, num_kv_heads=2, bias=False).to(dtype)
    x = randn(B, L_Q, D_MODEL, dtype=dtype).requires_grad_()
    mask = torch.ones(B, 1, L_Q, L_Q, dtype=torch.bool)
    mask[1, :, 2] = False
    result = layer(x, mask=mask, return_weights=not fused)
    output = result if fused else result[0]
    assert (output[1, 2] == 0).all() and torch.isfinite(output).all()
    output.float().pow(2).sum().backward()
    for gradient in (x.grad, *(parameter.grad for parameter in layer.parameters())):
        assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("fused", [True, False])
def test_nothing_leaks_from_the_future(fused):
    torch.manual_seed(0)
    layer = MultiHeadAttention(D_MODEL, H)
    x = randn(1, L_K, D_MODEL).requires_grad_()
    result = layer(x, mask=causal_mask(L_K), return_weights=not fused)
    output = result if fused else result[0]
    for i in range(L_K - 1):
        (gradient,) = torch.autograd.grad(output[0, i].sum(), x, retain_graph=True)
        assert (gradient[0, i + 1 :] == 0).all() and (gradient[0, : i + 1] != 0).any()


def biases():
    return {"alibi": alibi_bias(H, L_Q, L_K), "full": randn(B, H, L_Q, L_K, seed=5), "keys": randn(L_K, seed=6)}


@pytest.mark.parametrize("bias", biases())
@pytest.mark.parametrize("name", masks())
def test_score_bias_on_both_paths_equals_pytorchs_module(name, bias):
    """PyTorch's module adds a float mask to the scaled scores: the bias, minus infinity where nothing may be seen."""
    ours, theirs = pair()
    query, key, value = (randn(B, n, D_MODEL, seed=i) for i, n in enumerate((L_Q, L_K, L_K)))
    mask, score_bias = masks()[name], biases()[bias]
    additive = score_bias.expand(B, H, L_Q, L_K)
    if mask is not None:
        additive = additive.masked_fill(~mask, -torch.inf)
    additive = additive.reshape(B * H, L_Q, L_K)
    expected, expected_weights = theirs(query, key, value, attn_mask=additive, average_attn_weights=False)
    output, weights = ours(query, key, value, mask=mask, score_bias=score_bias, return_weights=True)
    fused = ours(query, key, value, mask=mask, score_bias=score_bias)
    for got, want in ((output, expected), (fused, expected), (weights, expected_weights)):
        torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_score_bias_beside_a_fully_masked_row(fused, dtype):
    torch.manual_seed(0)
    layer = MultiHeadAttention(D_MODEL, H, num_kv_heads=2, bias=False).to(dtype)
    x, bias = randn(B, L_Q, D_MODEL, dtype=dtype).requires_grad_(), randn(H, L_Q, L_Q, seed=1).requires_grad_()
    mask = torch.ones(B, 1, L_Q, L_Q, dtype=torch.bool)
    mask[:, :, 2] = False
    result = layer(x, mask=mask, score_bias=bias, return_weights=not fused)
    output = result if fused else result[0]
    assert (output[:, 2] == 0).all() and torch.isfinite(output).all()
    output.float().pow(2).sum().backward()
    assert torch.isfinite(x.grad).all() and torch.isfinite(bias.grad).all()
    assert (bias.grad[:, 2] == 0).all() and (bias.grad[:, 1] != 0).any()


@pytest.mark.parametrize("fused", [True, False])
def test_keys_and_values_projected_beforehand(fused):
    torch.manual_seed(0)
    layer = MultiHeadAttention(D_MODEL, H, num_kv_heads=2)
    query, memory = randn(B, L_Q, D_MODEL), randn(B, L_K, D_MODEL, seed=1)
    mask = padding_mask(TOKENS, 0)
    projected = layer.project_key_value(memory, memory)
    assert [tuple(tensor.shape) for tensor in projected] == [(B, 2, L_K, 3)] * 2
    assert torch.equal(projected[1], split_heads(layer.v_proj(memory), 2))
    got = layer(query, projected=projected, mask=mask, return_weights=not fused)
    want = layer(query, memory, memory, mask=mask, return_weights=not fused)
    torch.testing.assert_close(got, want)


@pytest.mark.parametrize("fused", [True, False])
def test_rotary_scores_do_not_see_where_the_sequence_starts(fused):
    """Shifted as a whole, a sequence gives the same output; without its order, it does not."""
    torch.manual_seed(0)
    x = randn(B, L_Q, D_MODEL)
    layer = MultiHeadAttention(D_MODEL, 2, rotary=RotaryPositions(6, max_len=40))
    output = layer(x, return_weights=not fused)
    with torch.no_grad():
        cache = KVCache(B, 2, 40, 6)
        cache.update(torch.zeros(B, 2, 30, 6), torch.zeros(B, 2, 30, 6))
        mask = (torch.arange(30 + L_Q) >= 30).expand(L_Q, -1)
        shifted = layer(x, cache=cache, mask=mask, return_weights=not fused)
    if not fused:
        (output, weights), (shifted, shifted_weights) = output, shifted
        torch.testing.assert_close(shifted_weights[..., 30:], weights, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(shifted, output, atol=1e-5, rtol=1e-5)
    reordered = layer(x.flip(1)).flip(1)
    assert (reordered - output).abs().max() > 1e-3


def test_rotary_positions_are_no_weights():
    rotary = RotaryPositions(6)
    assert set(MultiHeadAttention(D_MODEL, 2, rotary=rotary).state_dict()) == set(
        MultiHeadAttention(12, 2).state_dict()
    )


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


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: MultiHeadAttention(512, 5), ValueError, ["num_heads (5) must divide d_model (512)"]),
        (lambda: MultiHeadAttention(12, 4, num_kv_heads=3), ValueError, ["num_kv_heads (3) must divide num_heads (4)"]),
        (lambda: MultiHeadAttention(12, 4, num_kv_heads=0), ValueError, ["num_kv_heads (0)"]),
        (lambda: MultiHeadAttention(0, 4), ValueError, ["d_model (0)"]),
        (lambda: MultiHeadAttention(12, 4, dropout=1.0), ValueError, ["dropout (1.0)"]),
        (lambda: LAYER(X, X), ValueError, ["key is given without value"]),
        (lambda: LAYER(X, value=X), ValueError, ["value is given without key"]),
        (lambda: LAYER(X[0]), ValueError, ["query", "(5, 12)", "(B, L, d_model=12)"]),
        (lambda: LAYER(X[..., :10]), ValueError, ["query", "(2, 5, 10)"]),
        (lambda: LAYER(X, X[:1], X[:1]), ValueError, ["key has batch size 1", "2"]),
        (lambda: LAYER(X, X, X[:, :3]), ValueError, ["5 keys but 3 values"]),
        (lambda: LAYER(X, mask=torch.ones(L_Q, L_Q)), TypeError, ["float32", "mask.bool()"]),
        (lambda: LAYER(X, mask=torch.ones(L_Q, L_Q, dtype=torch.long)), TypeError, ["int64"]),
        (lambda: LAYER(X, mask=causal_mask(L_K)), ValueError, ["(1, 1, 7, 7)", "(2, 4, 5, 5)"]),
        (lambda: LAYER(X, cache=KVCache(B, 4, 9, 3)), ValueError, ["key has shape (2, 2, 5, 3)", "(2, 4, L_new, 3)"]),
        (lambda: LAYER(X, cache=KVCache(B, 2, 3, 3)), ValueError, ["requires grad"]),
        (lambda: MultiHeadAttention(12, 2, rotary=RotaryPositions(4)), ValueError, ["rotary", "d_head=4", "6"]),
        (lambda: TURNED(X, X, X), ValueError, ["rotary", "cross-attention"]),
        (lambda: TURNED(X, projected=KV), ValueError, ["rotary", "projected"]),
        (lambda: TURNED(X), ValueError, ["0 to 4", "max_len (4)"]),
        (lambda: LAYER(X, X, X, projected=KV), ValueError, ["projected", "without key"]),
        (lambda: LAYER(X, cache=KVCache(B, 2, 9, 3), projected=KV), ValueError, ["projected", "cache"]),
        (
            lambda: LAYER(X, projected=(X, X)),
            ValueError,
            ["projected key", "(2, 5, 12)", "H_kv=2", "project_key_value"],
        ),
        (lambda: LAYER(X, projected=(KV[0], KV[1][:, :1])), ValueError, ["projected value", "(2, 1, 7, 3)"]),
        (lambda: LAYER(X, projected=(KV[0][:1], KV[1][:1])), ValueError, ["key has batch size 1", "2"]),
        (lambda: LAYER(X, projected=(KV[0], KV[1][:, :, :3])), ValueError, ["7 keys but 3 values"]),
        (lambda: LAYER.project_key_value(X, X[..., :10]), ValueError, ["value", "(2, 5, 10)"]),
        (lambda: LAYER(X, score_bias=torch.ones(L_Q, L_Q).bool()), TypeError, ["score_bias", "torch.bool", "mask="]),
        (
            lambda: LAYER(X, score_bias=alibi_bias(H, L_K)),
            ValueError,
            ["score_bias of shape (1, 4, 7, 7)", "(2, 4, 5, 5)"],
        ),
        (lambda: split_heads(X, 5), ValueError, ["num_heads (5) must divide d_model (12)"]),
        (lambda: split_heads(X[0], 4), ValueError, ["(5, 12)"]),
        (lambda: merge_heads(X), ValueError, ["(2, 5, 12)"]),
        (lambda: repeat_kv(X[None], 0), ValueError, ["num_repeats (0)"]),
        (lambda: repeat_kv(X, 2), ValueError, ["(2, 5, 12)"]),
    ],
)
@pytest.mark.usefixtures("as_a_user")
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)


@torch.no_grad()
def test_a_full_cache_says_so():
    with pytest.raises(ValueError, match=r"overflow: 0 of 3.*max_len=5"):
        LAYER(X, cache=KVCache(B, 2, 3, 3))
