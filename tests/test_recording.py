"""Weights recorded from whole models: what each attention had, by its name, and nothing else changed."""

import pytest
import torch
from tensors import randn
from torch import nn

from course_utils.attention import AdditiveAttention
from course_utils.masks import causal_mask
from course_utils.models import DecoderConfig, DecoderLM, Transformer, TransformerConfig
from course_utils.multi_head import MultiHeadAttention
from course_utils.recording import record_attention

B, H, L_Q, L_K, D_MODEL = 2, 4, 5, 7, 12


class Two(nn.Module):
    """The first attention is asked for its weights, the second is not."""

    def __init__(self):
        super().__init__()
        self.first, self.second = MultiHeadAttention(D_MODEL, H), MultiHeadAttention(D_MODEL, H, num_kv_heads=2)

    def forward(self, x, memory):
        x, weights = self.first(x, mask=causal_mask(x.shape[1]), return_weights=True)
        return self.second(x, memory, memory), weights


def test_what_is_recorded_is_what_return_weights_gives():
    torch.manual_seed(0)
    model, x, memory = Two(), randn(B, L_Q, D_MODEL), randn(B, L_K, D_MODEL, seed=1)
    with record_attention(model) as seen:
        output, own = model(x, memory)
    plain, plain_own = model(x, memory)
    torch.testing.assert_close((output, own), (plain, plain_own), atol=1e-5, rtol=1e-5)
    assert list(seen) == ["first", "second"] and len(seen) == 2
    torch.testing.assert_close(seen["first"], plain_own)
    first, _ = model.first(x, mask=causal_mask(L_Q), return_weights=True)
    torch.testing.assert_close(seen["second"], model.second(first, memory, memory, return_weights=True)[1])
    assert seen["second"].shape == (B, H, L_Q, L_K)
    seen["second"][..., 0].sum().backward()
    assert model.first.q_proj.weight.grad.abs().sum() > 0  # gradients flow through what is recorded


def test_afterwards_nothing_is_recorded_and_the_kernel_is_back(monkeypatch):
    model, x, memory = Two(), randn(B, L_Q, D_MODEL), randn(B, L_K, D_MODEL, seed=1)
    kept = []

    def interrupted():
        with record_attention(model) as seen:
            kept.append(seen)
            model(x, memory)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    monkeypatch.setattr("course_utils.multi_head.scaled_dot_product_attention", None)  # the explicit path
    model.second(x, memory, memory)
    assert len(kept[0].calls("second")) == 1
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_a_call_that_fails_does_not_confuse_the_next():
    model, x, memory = Two(), randn(B, L_Q, D_MODEL), randn(B, L_K, D_MODEL, seed=1)
    with record_attention(model) as seen:
        with pytest.raises(ValueError, match="key"):
            model.first(x, memory, return_weights=True)
        assert isinstance(model.second(x, memory, memory), torch.Tensor)
        assert isinstance(model.first(x), torch.Tensor)
    assert len(seen.calls("first")) == 1


def test_additive_attention_and_several_calls():
    layer = AdditiveAttention(3, 4, 6)
    query, key, value = randn(B, L_Q, 3), randn(B, L_K, 4), randn(B, L_K, 2)
    with record_attention(nn.ModuleDict({"score": layer})) as seen:
        for step in range(L_Q):
            _, weights = layer(query[:, step : step + 1], key, value)
    assert len(seen.calls("score")) == L_Q and seen["score"] is weights
    torch.testing.assert_close(torch.cat(seen.calls("score"), dim=1), layer(query, key, value)[1])


def test_names_and_shapes_in_whole_models():
    sizes = {"num_layers": 2, "d_model": 8, "d_ff": 12, "num_heads": 2, "max_len": 12}
    model = Transformer(TransformerConfig(9, 11, **sizes)).eval()
    with record_attention(model) as seen:
        model(torch.randint(1, 9, (B, L_K)), torch.randint(1, 11, (B, L_Q)))
    assert [tuple(w.shape[2:]) for w in seen.values()] == [(7, 7)] * 2 + [(5, 5), (5, 7)] * 2
    cross = seen.matching("decoder_layers.*.cross_attention")
    assert cross[1] is seen["decoder_layers.1.cross_attention"] and len(cross) == 2
    with record_attention(DecoderLM(DecoderConfig(9, **sizes))) as seen:
        assert len(seen) == 0


def test_what_is_not_there_is_named():
    model = Two()
    with record_attention(model) as seen:
        model.first(randn(B, L_Q, D_MODEL))
    with pytest.raises(KeyError, match="'second' was not called; recorded: first"):
        seen["second"]
    with pytest.raises(KeyError, match="'third' is no attention of this model"):
        seen.calls("third")
    with pytest.raises(KeyError, match=r"'layers\.\*' fits none of: first"):
        seen.matching("layers.*")
    with pytest.raises(ValueError, match="Linear has no attention"), record_attention(nn.Linear(2, 2)):
        pass
