"""Residual connection, encoder and decoder layer against PyTorch's layers, and by their properties."""

import pytest
import torch
from pytorch_weights import copy_layer, unsettle
from torch import nn

from course_utils.kv_cache import KVCache
from course_utils.layers import DecoderLayer, EncoderLayer, LayerNorm, Residual, RMSNorm
from course_utils.masks import causal_mask, combine_masks, padding_mask
from course_utils.positions import RotaryPositions, alibi_bias

B, H, L_T, L_S, D_MODEL, D_FF = 2, 4, 5, 7, 24, 40
SOURCE = torch.tensor([[5, 3, 8, 8, 2, 0, 0], [1, 2, 3, 4, 5, 6, 7]])
TARGET = torch.tensor([[1, 2, 3, 4, 5], [4, 4, 2, 0, 0]])
ORDERS = pytest.mark.parametrize("pre_norm", [True, False])


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def encoder_pair(pre_norm):
    theirs = nn.TransformerEncoderLayer(D_MODEL, H, D_FF, batch_first=True, norm_first=pre_norm)
    ours = EncoderLayer(D_MODEL, H, D_FF, pre_norm=pre_norm)
    copy_layer(ours, unsettle(theirs))
    return ours.eval(), theirs.eval()


def decoder_pair(pre_norm):
    theirs = nn.TransformerDecoderLayer(D_MODEL, H, D_FF, batch_first=True, norm_first=pre_norm)
    ours = DecoderLayer(D_MODEL, H, D_FF, pre_norm=pre_norm)
    copy_layer(ours, unsettle(theirs))
    return ours.eval(), theirs.eval()


def test_residual_by_hand():
    """norm of (1, 3) is (-1, 1); the sublayer adds 1."""
    x = torch.tensor([[[1.0, 3.0]]])

    def plus_one(y):
        return y + 1

    torch.testing.assert_close(Residual(2)(x, plus_one), torch.tensor([[[1.0, 5.0]]]), atol=1e-4, rtol=0)
    post = Residual(2, pre_norm=False)(x, plus_one)  # 1 + 2, 3 + 4: mean 5, deviation 2
    torch.testing.assert_close(post, torch.tensor([[[-1.0, 1.0]]]), atol=1e-4, rtol=0)


@ORDERS
def test_residual_drops_what_the_sublayer_adds_and_only_in_training(pre_norm):
    torch.manual_seed(0)
    residual, x = Residual(400, dropout=0.5, pre_norm=pre_norm), randn(1, 1, 400)
    outputs = residual(x, lambda y: torch.full_like(y, 3.0))
    if pre_norm:  # kept ones are doubled
        changes = (outputs - x).round().unique(return_counts=True)
        assert changes[0].tolist() == [0, 6] and 150 < changes[1][0] < 250
    else:
        assert not torch.equal(outputs, residual(x, lambda y: torch.full_like(y, 3.0)))
    residual.eval()
    expected = x + 3 if pre_norm else residual.norm(x + 3)
    torch.testing.assert_close(residual(x, lambda y: torch.full_like(y, 3.0)), expected)


def test_residual_takes_another_norm():
    assert isinstance(Residual(4).norm, LayerNorm)
    assert isinstance(Residual(4, norm=RMSNorm).norm, RMSNorm)


@ORDERS
@pytest.mark.parametrize("masked", [True, False])
def test_encoder_layer_equals_pytorchs(pre_norm, masked):
    ours, theirs = encoder_pair(pre_norm)
    x = randn(B, L_S, D_MODEL)
    mask = padding_mask(SOURCE, 0) if masked else None
    expected = theirs(x, src_key_padding_mask=SOURCE == 0 if masked else None)
    explicit, weights = ours(x, mask, return_weights=True)
    for got in (ours(x, mask), explicit):
        torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)
    assert weights.shape == (B, H, L_S, L_S)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, L_S))


@ORDERS
def test_decoder_layer_equals_pytorchs(pre_norm):
    ours, theirs = decoder_pair(pre_norm)
    x, memory = randn(B, L_T, D_MODEL), randn(B, L_S, D_MODEL, seed=1)
    masks = {
        "target_mask": combine_masks(padding_mask(TARGET, 0), causal_mask(L_T)),
        "memory_mask": padding_mask(SOURCE, 0),
    }
    expected = theirs(
        x,
        memory,
        tgt_mask=~causal_mask(L_T)[0, 0],
        tgt_key_padding_mask=TARGET == 0,
        memory_key_padding_mask=SOURCE == 0,
    )
    explicit, self_weights, cross_weights = ours(x, memory, **masks, return_weights=True)
    projected = ours.cross_attention.project_key_value(memory, memory)
    for got in (ours(x, memory, **masks), explicit, ours(x, **masks, memory_kv=projected)):
        torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)
    assert self_weights.shape == (B, H, L_T, L_T) and cross_weights.shape == (B, H, L_T, L_S)
    assert (self_weights.triu(1) == 0).all() and (cross_weights[0, :, :, 5:] == 0).all()


@ORDERS
def test_gradients_equal_pytorchs(pre_norm):
    ours, theirs = encoder_pair(pre_norm)
    grads = []
    for layer in (ours, theirs):
        x = randn(B, L_S, D_MODEL).requires_grad_()
        layer(x).pow(2).sum().backward()
        grads.append(x.grad)
    torch.testing.assert_close(*grads, atol=1e-4, rtol=1e-4)
    packed = torch.cat([getattr(ours.self_attention, f"{name}_proj").weight.grad for name in "qkv"])
    torch.testing.assert_close(packed, theirs.self_attn.in_proj_weight.grad, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("rotary", [False, True])
@ORDERS
@torch.no_grad()
def test_decoder_layer_step_by_step_equals_all_at_once(pre_norm, rotary):
    torch.manual_seed(0)
    positions = RotaryPositions(D_MODEL // H, max_len=9) if rotary else None
    layer = DecoderLayer(D_MODEL, H, D_FF, pre_norm=pre_norm, rotary=positions).eval()
    x, memory, memory_mask = randn(B, L_T, D_MODEL), randn(B, L_S, D_MODEL, seed=1), padding_mask(SOURCE, 0)
    whole = layer(x, memory, target_mask=causal_mask(L_T), memory_mask=memory_mask)
    cache, projected = KVCache(B, H, L_T, D_MODEL // H), layer.cross_attention.project_key_value(memory, memory)
    for i in range(L_T):
        step = layer(x[:, i : i + 1], target_mask=None, memory_mask=memory_mask, cache=cache, memory_kv=projected)
        torch.testing.assert_close(step[:, 0], whole[:, i], atol=1e-5, rtol=1e-5)


def test_encoder_layer_adds_the_bias_and_turns_by_position():
    torch.manual_seed(0)
    x = randn(B, L_S, D_MODEL)
    plain = EncoderLayer(D_MODEL, H, D_FF).eval()
    bias = alibi_bias(H, L_S)
    biased, weights = plain(x, score_bias=bias, return_weights=True)
    torch.testing.assert_close(plain(x, score_bias=bias), biased, atol=1e-5, rtol=1e-5)
    assert (biased - plain(x)).abs().max() > 1e-3
    torch.testing.assert_close(plain(x.flip(1)).flip(1), plain(x), atol=1e-5, rtol=1e-5)  # sees no order
    turned = EncoderLayer(D_MODEL, H, D_FF, rotary=RotaryPositions(6)).eval()
    turned.load_state_dict(plain.state_dict())
    assert (turned(x.flip(1)).flip(1) - turned(x)).abs().max() > 1e-3


@ORDERS
def test_dropout_stands_where_pytorch_has_it(pre_norm):
    """On the attention weights, inside the feed-forward network, after each sublayer; nowhere when evaluating."""
    for layer, attentions, residuals in (
        (EncoderLayer(D_MODEL, H, D_FF, dropout=0.25, pre_norm=pre_norm), 1, 2),
        (DecoderLayer(D_MODEL, H, D_FF, dropout=0.25, pre_norm=pre_norm), 2, 3),
    ):
        found = [module.p for module in layer.modules() if isinstance(module, nn.Dropout)]
        assert found == [0.25] * (residuals + 1)
        rates = [module.dropout for name, module in layer.named_modules() if name.endswith("attention")]
        assert rates == [0.25] * attentions


X, MEMORY = torch.ones(B, L_T, D_MODEL), torch.ones(B, L_S, D_MODEL)
ENCODER, DECODER = EncoderLayer(D_MODEL, H, D_FF), DecoderLayer(D_MODEL, H, D_FF)
KV = (torch.ones(B, H, L_S, 6), torch.ones(B, H, L_S, 6))
OPEN = {"target_mask": None, "memory_mask": None}


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: Residual(4, dropout=1.0), ValueError, ["dropout (1.0)"]),
        (lambda: Residual(0), ValueError, ["d_model (0)"]),
        (lambda: Residual(D_MODEL)(X, lambda y: y[0]), ValueError, ["(2, 5, 24)", "(5, 24)", "sublayer"]),
        (lambda: EncoderLayer(24, 5, 40), ValueError, ["num_heads (5)", "d_model (24)"]),
        (lambda: EncoderLayer(24, 4, 0), ValueError, ["d_ff (0)"]),
        (lambda: DecoderLayer(24, 4, 40, dropout=-1.0), ValueError, ["dropout (-1.0)"]),
        (lambda: DecoderLayer(24, 4, 40, rotary=RotaryPositions(4)), ValueError, ["d_head=4"]),
        (lambda: ENCODER(X[..., :10]), ValueError, ["(2, 5, 10)"]),
        (lambda: ENCODER(X, padding_mask(SOURCE, 0)), ValueError, ["(2, 1, 1, 7)", "(2, 4, 5, 5)"]),
        (lambda: ENCODER(X, torch.ones(L_T, L_T)), TypeError, ["float32"]),
        (lambda: DECODER(X, **OPEN), ValueError, ["neither", "memory_kv"]),
        (lambda: DECODER(X, MEMORY, **OPEN, memory_kv=KV), ValueError, ["both", "memory_kv"]),
        (lambda: DECODER(X, MEMORY, memory_mask=None), TypeError, ["target_mask"]),
        (lambda: DECODER(X, MEMORY, target_mask=None), TypeError, ["memory_mask"]),
        (
            lambda: DECODER(
                X, MEMORY, target_mask=None, memory_mask=causal_mask(L_T)
            ),  # the target's, given to the source
            ValueError,
            ["(1, 1, 5, 5)", "(2, 4, 5, 7)"],
        ),
    ],
)
@pytest.mark.usefixtures("as_a_user")
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)
