"""The decoder-only model against Hugging Face's Llama, and by its properties."""

import pytest
import torch

from benchmarks.llama import hugging_face
from course_utils.attention import scaled_dot_product_attention
from course_utils.decoding import generate
from course_utils.masks import sliding_window_mask
from course_utils.models import DecoderConfig, DecoderLM, count_parameters
from course_utils.multi_head import merge_heads, repeat_kv, split_heads
from course_utils.recording import record_attention

V, N, D_MODEL, D_FF, H, H_KV = 19, 3, 24, 40, 6, 2
TOKENS = torch.tensor([[5, 3, 8, 8, 2, 17, 4], [1, 2, 3, 4, 5, 6, 7]])


def model(**changes):
    torch.manual_seed(0)
    sizes = {"num_layers": N, "d_model": D_MODEL, "d_ff": D_FF, "num_heads": H, "num_kv_heads": H_KV, "max_len": 12}
    net = DecoderLM(DecoderConfig(V, **sizes | changes)).eval()
    for parameter in net.parameters():  # larger than at the start, so that attention has something to choose
        torch.nn.init.normal_(parameter, mean=1.0 if parameter.dim() == 1 else 0.0, std=0.3)
    return net


@pytest.mark.parametrize("num_kv_heads", [None, 2, 1])
@pytest.mark.parametrize("tie", [True, False])
def test_equals_llama(num_kv_heads, tie):
    net = model(num_kv_heads=num_kv_heads, tie_embeddings=tie)
    with torch.no_grad():
        expected = hugging_face(net).eval()(TOKENS).logits
    assert expected.std() > 0.5  # not nothing
    torch.testing.assert_close(net(TOKENS), expected, atol=1e-4, rtol=1e-4)
    with record_attention(net):  # on the explicit path
        torch.testing.assert_close(net(TOKENS), expected, atol=1e-4, rtol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("pieces", [(7,), (4, 1, 1, 1), (1,) * 7, (3, 3, 1)])
def test_piece_by_piece_with_a_cache_equals_llama(pieces):
    net = model()
    expected = hugging_face(net).eval()(TOKENS).logits
    cache, found = net.start_cache(2, 7), []
    for piece in TOKENS.split(pieces, dim=1):
        found.append(net(piece, cache=cache))
    torch.testing.assert_close(torch.cat(found, dim=1), expected, atol=1e-4, rtol=1e-4)
    assert cache[0].num_bytes == 2 * 2 * H_KV * 7 * (D_MODEL // H) * 4


def test_nothing_leaks_from_the_future():
    net = model()
    embedded = net.embedding(TOKENS).detach().requires_grad_()
    net.embedding.forward = lambda tokens: embedded
    net(TOKENS)[:, 3].sum().backward()
    assert (embedded.grad[:, 4:] == 0).all() and (embedded.grad[:, :4] != 0).any(-1).all()


@torch.no_grad()
def test_the_next_logits_are_those_of_the_last_position_and_no_others_are_computed():
    net, scored = model(), []
    net.generator.register_forward_hook(lambda module, inputs, output: scored.append(output.shape))
    cache = net.start_cache(2, 12)
    expected = net(TOKENS)
    torch.testing.assert_close(net.next_logits(TOKENS[:, :5], cache=cache), expected[:, 4], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(net.next_logits(TOKENS[:, 5:], cache=cache), expected[:, 6], atol=1e-5, rtol=1e-5)
    assert scored[1:] == [(2, V), (2, V)]


def test_one_sequence_at_once_needs_no_mask(monkeypatch):
    """The kernel is told that attention is causal; a mask of L x L is never made."""
    net = model()
    monkeypatch.setattr("course_utils.models.decoder_lm.causal_mask", None)
    monkeypatch.setattr("course_utils.masks.causal_mask", None)
    net(TOKENS).sum().backward()


def test_parameters_by_hand():
    attention = 2 * D_MODEL * D_MODEL + 2 * D_MODEL * (H_KV * D_MODEL // H)
    layer = attention + 3 * D_MODEL * D_FF + 2 * D_MODEL
    assert count_parameters(model()) == V * D_MODEL + N * layer + D_MODEL
    assert count_parameters(model(tie_embeddings=False)) == 2 * V * D_MODEL + N * layer + D_MODEL


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_cached_generation_gives_the_same_tokens(temperature):
    net = model()
    with_cache, without = (
        generate(
            net,
            TOKENS[:, :3],
            max_new_tokens=9,
            temperature=temperature,
            generator=torch.Generator().manual_seed(5),
            use_cache=use_cache,
        )
        for use_cache in (True, False)
    )
    assert torch.equal(with_cache, without) and with_cache.shape == (2, 12)


def step_by_step(net, tokens, cache):
    return torch.stack([net.next_logits(token[:, None], cache=cache) for token in tokens.T], dim=1)  # (B, L, V)


@torch.no_grad()
def test_a_window_without_sinks_is_attention_under_a_mask():
    net, tokens = model(), torch.randint(V, (2, 11), generator=torch.Generator().manual_seed(0))
    x = net.embedding(tokens)
    for layer in net.layers:
        x = layer(x, sliding_window_mask(11, window=4))
    expected = net.generator(net.norm(x))
    torch.testing.assert_close(step_by_step(net, tokens, net.start_window(2, 4)), expected, atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_sinks_stand_just_before_the_window():
    """By a loop that computes every kept key anew, at its place among the kept, far beyond ``max_len``."""
    net, window, sinks = model(), 3, 2
    tokens = torch.randint(V, (2, 30), generator=torch.Generator().manual_seed(0))
    streams, expected = [[] for _ in net.layers], []
    for place, token in enumerate(tokens.T):
        kept = sorted({*range(min(sinks, place + 1)), *range(max(0, place - window + 1), place + 1)})
        x = net.embedding(token)[:, None]  # (B, 1, d_model)
        for layer, seen in zip(net.layers, streams, strict=True):
            seen.append(layer.attention_norm(x))
            some, attention = torch.cat([seen[one] for one in kept], dim=1), layer.self_attention
            q = attention.rotary(split_heads(attention.q_proj(seen[-1]), H), len(kept) - 1)
            k = attention.rotary(split_heads(attention.k_proj(some), H_KV))
            v = split_heads(attention.v_proj(some), H_KV)
            heads, _ = scaled_dot_product_attention(q, repeat_kv(k, H // H_KV), repeat_kv(v, H // H_KV))
            x = x + attention.o_proj(merge_heads(heads))
            x = x + layer.feed_forward(layer.feed_forward_norm(x))
        expected.append(net.generator(net.norm(x[:, -1])))
    found = step_by_step(net, tokens, net.start_window(2, window, sinks=sinks))
    torch.testing.assert_close(found, torch.stack(expected, dim=1), atol=1e-4, rtol=1e-4)


def test_with_a_window_a_text_may_be_longer_than_the_model_has_room_for():
    net = model()
    cache = net.start_window(1, 8, sinks=1)
    size = sum(one.num_bytes for one in cache)
    assert generate(net, TOKENS[:1], max_new_tokens=40, cache=cache).shape == (1, 47)
    assert sum(one.num_bytes for one in cache) == size


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: model()(TOKENS.repeat(1, 2)), r"14 positions.*max_len \(12\)"),
        (lambda: model()(TOKENS + 10), "1.* to 27; this embedding knows 0 to 18"),
        (lambda: model()(TOKENS[0]), r"shape \(7,\)"),
        (lambda: model()(TOKENS.float()), "float32"),
        (lambda: model()(TOKENS, cache=[]), "cache has 0 entries.*3 layers"),
        (lambda: model().start_cache(2, 13), r"max_len \(13\).*\(12\)"),
        (lambda: model().start_window(1, 10, sinks=2), r"10 \+ 2.*below.*\(12\)"),
        (lambda: model(positions="learned").start_window(1, 4), "learned positions"),
        (lambda: model(num_layers=0), "num_layers .0."),
        (lambda: model(num_heads=5), "num_heads .5. must divide d_model .24."),
        (lambda: model(num_kv_heads=4), "num_kv_heads .4.*num_heads .6."),
        (lambda: model(num_kv_heads=0), "num_kv_heads .0."),
        (lambda: model(num_heads=8), "3. must be even"),
        (lambda: model(dropout=1.0), "dropout .1.0."),
        (lambda: model(rope_base=0.0), "rope_base .0.0."),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
