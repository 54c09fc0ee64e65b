"""The layer of today's language models, against its formula and by its properties."""

import pytest
import torch
from pytorch_weights import unsettle

from course_utils.kv_cache import KVCache
from course_utils.layers import DecoderOnlyLayer
from course_utils.masks import AttentionMask, causal_mask
from course_utils.positions import RotaryPositions

B, H, H_KV, L, D_MODEL, D_FF = 2, 4, 2, 5, 24, 40


def layer(**changes):
    torch.manual_seed(0)
    options = {"num_kv_heads": H_KV, "rotary": RotaryPositions(D_MODEL // H)}
    return unsettle(DecoderOnlyLayer(D_MODEL, H, D_FF, **options | changes)).eval()


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_it_is_its_formula():
    net, x = layer(), randn(B, L, D_MODEL)

    def normed(x, norm):
        return x / (x.square().mean(-1, keepdim=True) + norm.eps).sqrt() * norm.weight

    middle = x + net.self_attention(normed(x, net.attention_norm), mask=causal_mask(L))
    network, y = net.feed_forward, normed(middle, net.feed_forward_norm)
    gate, up = y @ network.gate_proj.weight.T, y @ network.up_proj.weight.T
    expected = middle + (gate * gate.sigmoid() * up) @ network.down_proj.weight.T
    torch.testing.assert_close(net(x, causal_mask(L)), expected, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_causal_by_name_by_mask_and_with_a_cache():
    net, x = layer(), randn(B, L, D_MODEL)
    expected = net(x, causal_mask(L))
    torch.testing.assert_close(net(x, AttentionMask(is_causal=True)), expected, atol=1e-5, rtol=1e-5)
    cache = KVCache(B, H_KV, L, D_MODEL // H)
    first = net(x[:, :2], AttentionMask(is_causal=True), cache=cache)
    rest = net(x[:, 2:], AttentionMask(causal_mask(3, 5)), cache=cache)
    torch.testing.assert_close(torch.cat((first, rest), dim=1), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.usefixtures("as_a_user")
def test_causal_by_name_needs_as_many_keys_as_queries():
    net, x, cache = layer(), randn(B, L, D_MODEL), KVCache(B, H_KV, L, D_MODEL // H)
    with torch.no_grad():
        net(x[:, :2], AttentionMask(is_causal=True), cache=cache)
        with pytest.raises(ValueError, match="5 keys from 3 queries"):
            net(x[:, 2:], AttentionMask(is_causal=True), cache=cache)


def test_dropout_and_biases():
    net, x = layer(dropout=0.5).train(), randn(B, L, D_MODEL)
    assert not torch.equal(net(x, None), net(x, None)) and torch.equal(net.eval()(x, None), net(x, None))
    assert not any(name.endswith("bias") for name, _ in net.named_parameters())
    with pytest.raises(TypeError, match="mask"):
        net(x)
