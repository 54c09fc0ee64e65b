"""Encoder and decoder layer against PyTorch's, the layer of today's language models against its formula, step by step."""

import pytest
import torch
from pytorch_weights import copy_layer, unsettle
from tensors import randn
from torch import nn

from course_utils.kv_cache import KVCache
from course_utils.layers import DecoderLayer, DecoderOnlyLayer, EncoderLayer
from course_utils.masks import AttentionMask, causal_mask, combine_masks, padding_mask
from course_utils.positions import RotaryPositions, alibi_bias
from course_utils.recording import record_attention

B, H, H_KV, L_T, L_S, D_MODEL, D_FF = 2, 4, 2, 5, 7, 24, 40
SOURCE = torch.tensor([[5, 3, 8, 8, 2, 0, 0], [1, 2, 3, 4, 5, 6, 7]])
TARGET = torch.tensor([[1, 2, 3, 4, 5], [4, 4, 2, 0, 0]])
X, MEMORY = randn(B, L_T, D_MODEL), randn(B, L_S, D_MODEL, seed=1)
ORDERS = pytest.mark.parametrize("pre_norm", [True, False])


def pair(ours, theirs, pre_norm):
    theirs = theirs(D_MODEL, H, D_FF, batch_first=True, norm_first=pre_norm)
    ours = ours(D_MODEL, H, D_FF, pre_norm=pre_norm)
    copy_layer(ours, unsettle(theirs))
    return ours.eval(), theirs.eval()


@ORDERS
@pytest.mark.parametrize("masked", [True, False])
def test_encoder_layer_equals_pytorchs(pre_norm, masked):
    ours, theirs = pair(EncoderLayer, nn.TransformerEncoderLayer, pre_norm)
    mask = padding_mask(SOURCE, 0) if masked else None
    grads = []
    for layer, options in ((ours, {"mask": mask}), (theirs, {"src_key_padding_mask": SOURCE == 0 if masked else None})):
        x = MEMORY.clone().requires_grad_()
        output = layer(x, **options)
        output.pow(2).sum().backward()
        grads.append((output, x.grad))
    torch.testing.assert_close(*grads, atol=1e-4, rtol=1e-4)
    packed = torch.cat([getattr(ours.self_attention, f"{name}_proj").weight.grad for name in "qkv"])
    torch.testing.assert_close(packed, theirs.self_attn.in_proj_weight.grad, atol=1e-4, rtol=1e-4)
    with record_attention(ours):
        torch.testing.assert_close(ours(MEMORY, mask), output, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(ours(MEMORY, AttentionMask.of(mask)), output, atol=1e-5, rtol=1e-5)


def test_encoder_layer_adds_the_bias_and_turns_by_position():
    torch.manual_seed(0)
    plain, bias = EncoderLayer(D_MODEL, H, D_FF).eval(), alibi_bias(H, L_S)
    with record_attention(plain):
        biased = plain(MEMORY, score_bias=bias)
    torch.testing.assert_close(plain(MEMORY, score_bias=bias), biased, atol=1e-5, rtol=1e-5)
    assert (biased - plain(MEMORY)).abs().max() > 1e-3
    torch.testing.assert_close(plain(MEMORY.flip(1)).flip(1), plain(MEMORY), atol=1e-5, rtol=1e-5)  # sees no order
    turned = EncoderLayer(D_MODEL, H, D_FF, rotary=RotaryPositions(6)).eval()
    turned.load_state_dict(plain.state_dict())
    assert (turned(MEMORY.flip(1)).flip(1) - turned(MEMORY)).abs().max() > 1e-3


@ORDERS
def test_decoder_layer_equals_pytorchs(pre_norm):
    ours, theirs = pair(DecoderLayer, nn.TransformerDecoderLayer, pre_norm)
    masks = {
        "target_mask": combine_masks(padding_mask(TARGET, 0), causal_mask(L_T)),
        "memory_mask": padding_mask(SOURCE, 0),
    }
    expected = theirs(
        X,
        MEMORY,
        tgt_mask=~causal_mask(L_T)[0, 0],
        tgt_key_padding_mask=TARGET == 0,
        memory_key_padding_mask=SOURCE == 0,
    )
    with record_attention(ours) as seen:
        explicit = ours(X, MEMORY, **masks)
    projected = ours.cross_attention.project_key_value(MEMORY, MEMORY)
    for output in (ours(X, MEMORY, **masks), explicit, ours(X, **masks, memory_kv=projected)):
        torch.testing.assert_close(output, expected, atol=1e-5, rtol=1e-5)
    assert seen["self_attention"].shape == (B, H, L_T, L_T) and seen["cross_attention"].shape == (B, H, L_T, L_S)
    by_name = ours(X, MEMORY, target_mask=AttentionMask(is_causal=True), memory_mask=None)
    torch.testing.assert_close(by_name, ours(X, MEMORY, target_mask=causal_mask(L_T), memory_mask=None))


@pytest.mark.parametrize("rotary", [False, True])
@ORDERS
@torch.no_grad()
def test_decoder_layer_step_by_step_equals_all_at_once(pre_norm, rotary):
    torch.manual_seed(0)
    positions = RotaryPositions(D_MODEL // H, max_len=9) if rotary else None
    layer = DecoderLayer(D_MODEL, H, D_FF, pre_norm=pre_norm, rotary=positions).eval()
    memory_mask = padding_mask(SOURCE, 0)
    whole = layer(X, MEMORY, target_mask=causal_mask(L_T), memory_mask=memory_mask)
    cache, projected = KVCache(B, H, L_T, D_MODEL // H), layer.cross_attention.project_key_value(MEMORY, MEMORY)
    for i in range(L_T):
        step = layer(X[:, i : i + 1], target_mask=None, memory_mask=memory_mask, cache=cache, memory_kv=projected)
        torch.testing.assert_close(step[:, 0], whole[:, i], atol=1e-5, rtol=1e-5)


def decoder_only(**changes):
    torch.manual_seed(0)
    options = {"num_kv_heads": H_KV, "rotary": RotaryPositions(D_MODEL // H)}
    return unsettle(DecoderOnlyLayer(D_MODEL, H, D_FF, **options | changes)).eval()


def test_decoder_only_layer_is_its_formula():
    layer = decoder_only()

    def normed(x, norm):
        return x / (x.square().mean(-1, keepdim=True) + norm.eps).sqrt() * norm.weight

    middle = X + layer.self_attention(normed(X, layer.attention_norm), mask=causal_mask(L_T))
    network, y = layer.feed_forward, normed(middle, layer.feed_forward_norm)
    gate, up = y @ network.gate_proj.weight.T, y @ network.up_proj.weight.T
    expected = middle + (gate * gate.sigmoid() * up) @ network.down_proj.weight.T
    torch.testing.assert_close(layer(X, causal_mask(L_T)), expected, atol=1e-5, rtol=1e-5)
    assert not any(name.endswith("bias") for name, _ in layer.named_parameters())


@pytest.mark.usefixtures("as_a_user")
@torch.no_grad()
def test_decoder_only_layer_by_name_by_mask_and_with_a_cache():
    layer, by_name, cache = decoder_only(), AttentionMask(is_causal=True), KVCache(B, H_KV, L_T, D_MODEL // H)
    expected = layer(X, causal_mask(L_T))
    torch.testing.assert_close(layer(X, by_name), expected, atol=1e-5, rtol=1e-5)
    first = layer(X[:, :2], by_name, cache=cache)
    rest = layer(X[:, 2:], AttentionMask(causal_mask(3, 5)), cache=cache)
    torch.testing.assert_close(torch.cat((first, rest), dim=1), expected, atol=1e-5, rtol=1e-5)
    cache.length = 2
    with pytest.raises(ValueError, match="5 keys from 3 queries"):
        layer(X[:, 2:], by_name, cache=cache)


OPEN = {"target_mask": None, "memory_mask": None}


@pytest.mark.parametrize(
    ("layer", "call", "places"),
    [
        (lambda **o: EncoderLayer(24, 4, 40, **o), lambda net: net(X), [24, 40, 24]),
        (lambda **o: EncoderLayer(24, 4, 40, pre_norm=False, **o), lambda net: net(X), [24, 40, 24]),
        (lambda **o: DecoderLayer(24, 4, 40, **o), lambda net: net(X, MEMORY, **OPEN), [24, 24, 40, 24]),
        (
            lambda **o: DecoderLayer(24, 4, 40, pre_norm=False, **o),
            lambda net: net(X, MEMORY, **OPEN),
            [24, 24, 40, 24],
        ),
        (lambda **o: DecoderOnlyLayer(24, 4, 40, **o), lambda net: net(X, None), [24, 24]),
    ],
)
def test_dropout_acts_where_pytorch_has_it(layer, call, places):
    """On the attention weights, inside the feed-forward network, after each sublayer; nowhere when evaluating."""
    net, dropped = layer(dropout=0.25), []
    for module in net.modules():
        if isinstance(module, nn.Dropout):
            module.register_forward_hook(lambda module, inputs, output: dropped.append((module.p, output.shape[-1])))
    assert not torch.equal(call(net), call(net))
    assert dropped == [(0.25, size) for size in places] * 2
    assert all(m.dropout == 0.25 for name, m in net.named_modules() if name.endswith("attention"))
    net.eval()
    assert torch.equal(call(net), call(net))


ENCODER, DECODER = EncoderLayer(D_MODEL, H, D_FF), DecoderLayer(D_MODEL, H, D_FF)
KV = (torch.ones(B, H, L_S, 6), torch.ones(B, H, L_S, 6))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: EncoderLayer(24, 5, 40), r"num_heads \(5\) must divide d_model \(24\)"),
        (lambda: EncoderLayer(24, 4, 0), r"d_ff \(0\)"),
        (lambda: ENCODER(X[..., :10]), r"\(2, 5, 10\)"),
        (lambda: ENCODER(X, padding_mask(SOURCE, 0)), r"\(2, 1, 1, 7\).*\(2, 4, 5, 5\)"),
        (lambda: DecoderLayer(24, 4, 40, dropout=-1.0), r"dropout \(-1\.0\)"),
        (lambda: DecoderLayer(24, 4, 40, rotary=RotaryPositions(4)), "d_head=4"),
        (lambda: DECODER(X, **OPEN), "neither.*memory_kv"),
        (lambda: DECODER(X, MEMORY, **OPEN, memory_kv=KV), "both.*memory_kv"),
        (lambda: DECODER(X, MEMORY, memory_mask=None), "target_mask"),
        (lambda: DECODER(X, MEMORY, target_mask=None), "memory_mask"),
        (lambda: DECODER(X, MEMORY, **OPEN | {"memory_mask": causal_mask(L_T)}), r"\(1, 1, 5, 5\).*\(2, 4, 5, 7\)"),
        (lambda: decoder_only()(X), "mask"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
