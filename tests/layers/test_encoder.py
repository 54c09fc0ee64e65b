"""The encoder layer against PyTorch's, and by its properties."""

import pytest
import torch
from pytorch_weights import copy_layer, unsettle
from torch import nn

from course_utils.layers import EncoderLayer
from course_utils.masks import AttentionMask, padding_mask
from course_utils.positions import RotaryPositions, alibi_bias
from course_utils.recording import record_attention

B, H, L_S, D_MODEL, D_FF = 2, 4, 7, 24, 40
SOURCE = torch.tensor([[5, 3, 8, 8, 2, 0, 0], [1, 2, 3, 4, 5, 6, 7]])
ORDERS = pytest.mark.parametrize("pre_norm", [True, False])


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def encoder_pair(pre_norm):
    theirs = nn.TransformerEncoderLayer(D_MODEL, H, D_FF, batch_first=True, norm_first=pre_norm)
    ours = EncoderLayer(D_MODEL, H, D_FF, pre_norm=pre_norm)
    copy_layer(ours, unsettle(theirs))
    return ours.eval(), theirs.eval()


@ORDERS
@pytest.mark.parametrize("masked", [True, False])
def test_encoder_layer_equals_pytorchs(pre_norm, masked):
    ours, theirs = encoder_pair(pre_norm)
    x = randn(B, L_S, D_MODEL)
    mask = padding_mask(SOURCE, 0) if masked else None
    expected = theirs(x, src_key_padding_mask=SOURCE == 0 if masked else None)
    with record_attention(ours) as seen:
        explicit = ours(x, mask)
    weights = seen["self_attention"]
    for got in (ours(x, mask), explicit):
        torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)
    assert weights.shape == (B, H, L_S, L_S)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, L_S))


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


def test_encoder_layer_adds_the_bias_and_turns_by_position():
    torch.manual_seed(0)
    x = randn(B, L_S, D_MODEL)
    plain = EncoderLayer(D_MODEL, H, D_FF).eval()
    bias = alibi_bias(H, L_S)
    with record_attention(plain):
        biased = plain(x, score_bias=bias)
    torch.testing.assert_close(plain(x, score_bias=bias), biased, atol=1e-5, rtol=1e-5)
    assert (biased - plain(x)).abs().max() > 1e-3
    torch.testing.assert_close(plain(x.flip(1)).flip(1), plain(x), atol=1e-5, rtol=1e-5)  # sees no order
    turned = EncoderLayer(D_MODEL, H, D_FF, rotary=RotaryPositions(6)).eval()
    turned.load_state_dict(plain.state_dict())
    assert (turned(x.flip(1)).flip(1) - turned(x)).abs().max() > 1e-3


@ORDERS
def test_dropout_acts_where_pytorch_has_it(pre_norm):
    """On the attention weights, inside the feed-forward network, after each sublayer; nowhere when evaluating."""
    layer, x = EncoderLayer(D_MODEL, H, D_FF, dropout=0.25, pre_norm=pre_norm), randn(B, L_S, D_MODEL)
    dropped = []
    for module in layer.modules():
        if isinstance(module, nn.Dropout):
            module.register_forward_hook(lambda module, inputs, output: dropped.append((module.p, output.shape[-1])))
    layer(x)
    assert dropped == [(0.25, D_MODEL), (0.25, D_FF), (0.25, D_MODEL)] and layer.self_attention.dropout == 0.25
    assert not torch.equal(layer(x), layer(x))
    layer.eval()
    assert torch.equal(layer(x), layer(x))


def test_a_mask_worked_out_beforehand_is_the_same_mask():
    layer, x = EncoderLayer(D_MODEL, H, D_FF).eval(), randn(B, L_S, D_MODEL)
    mask = padding_mask(SOURCE, 0)
    torch.testing.assert_close(layer(x, AttentionMask(mask)), layer(x, mask))


X, ENCODER = torch.ones(B, 5, D_MODEL), EncoderLayer(D_MODEL, H, D_FF)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: EncoderLayer(24, 5, 40), ValueError, ["num_heads (5)", "d_model (24)"]),
        (lambda: EncoderLayer(24, 4, 0), ValueError, ["d_ff (0)"]),
        (lambda: ENCODER(X[..., :10]), ValueError, ["(2, 5, 10)"]),
        (lambda: ENCODER(X, padding_mask(SOURCE, 0)), ValueError, ["(2, 1, 1, 7)", "(2, 4, 5, 5)"]),
        (lambda: ENCODER(X, torch.ones(5, 5)), TypeError, ["float32"]),
    ],
)
@pytest.mark.usefixtures("as_a_user")
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)
