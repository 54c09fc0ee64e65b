"""The decoder layer against PyTorch's, step by step against all at once, and its messages."""

import pytest
import torch
from pytorch_weights import copy_layer, unsettle
from torch import nn

from course_utils.kv_cache import KVCache
from course_utils.layers import DecoderLayer
from course_utils.masks import AttentionMask, causal_mask, combine_masks, padding_mask
from course_utils.positions import RotaryPositions
from course_utils.recording import record_attention

B, H, L_T, L_S, D_MODEL, D_FF = 2, 4, 5, 7, 24, 40
SOURCE = torch.tensor([[5, 3, 8, 8, 2, 0, 0], [1, 2, 3, 4, 5, 6, 7]])
TARGET = torch.tensor([[1, 2, 3, 4, 5], [4, 4, 2, 0, 0]])
ORDERS = pytest.mark.parametrize("pre_norm", [True, False])


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def decoder_pair(pre_norm):
    theirs = nn.TransformerDecoderLayer(D_MODEL, H, D_FF, batch_first=True, norm_first=pre_norm)
    ours = DecoderLayer(D_MODEL, H, D_FF, pre_norm=pre_norm)
    copy_layer(ours, unsettle(theirs))
    return ours.eval(), theirs.eval()


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
    with record_attention(ours) as seen:
        explicit = ours(x, memory, **masks)
    self_weights, cross_weights = seen["self_attention"], seen["cross_attention"]
    projected = ours.cross_attention.project_key_value(memory, memory)
    for got in (ours(x, memory, **masks), explicit, ours(x, **masks, memory_kv=projected)):
        torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)
    assert self_weights.shape == (B, H, L_T, L_T) and cross_weights.shape == (B, H, L_T, L_S)
    assert (self_weights.triu(1) == 0).all() and (cross_weights[0, :, :, 5:] == 0).all()


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


def test_causal_by_name_is_the_causal_mask():
    layer = DecoderLayer(D_MODEL, H, D_FF).eval()
    x, memory = randn(B, L_T, D_MODEL), randn(B, L_S, D_MODEL, seed=1)
    by_name, by_mask = (
        layer(x, memory, target_mask=mask, memory_mask=None)
        for mask in (AttentionMask(is_causal=True), causal_mask(L_T))
    )
    torch.testing.assert_close(by_name, by_mask)


@ORDERS
def test_dropout_acts_after_each_sublayer(pre_norm):
    layer, dropped = DecoderLayer(D_MODEL, H, D_FF, dropout=0.25, pre_norm=pre_norm), []
    for module in layer.modules():
        if isinstance(module, nn.Dropout):
            module.register_forward_hook(lambda module, inputs, output: dropped.append((module.p, output.shape[-1])))
    layer(X, MEMORY, **OPEN)
    assert dropped == [(0.25, D_MODEL), (0.25, D_MODEL), (0.25, D_FF), (0.25, D_MODEL)]
    assert layer.self_attention.dropout == layer.cross_attention.dropout == 0.25


X, MEMORY = torch.ones(B, L_T, D_MODEL), torch.ones(B, L_S, D_MODEL)
DECODER = DecoderLayer(D_MODEL, H, D_FF)
KV = (torch.ones(B, H, L_S, 6), torch.ones(B, H, L_S, 6))
OPEN = {"target_mask": None, "memory_mask": None}


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: DecoderLayer(24, 4, 40, dropout=-1.0), ValueError, ["dropout (-1.0)"]),
        (lambda: DecoderLayer(24, 4, 40, rotary=RotaryPositions(4)), ValueError, ["d_head=4"]),
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
