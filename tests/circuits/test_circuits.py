"""Heads taken apart: each matrix against the head that it stands for, shares against the logits, interventions against rules."""

import math

import pytest
import torch
from torch import nn

from course_utils import pretrained
from course_utils.circuits import (
    composition_score,
    contributions,
    copying_score,
    current_token_mask,
    cut_path,
    duplicate_token_mask,
    first_token_mask,
    induction_mask,
    mean_weight,
    ov_circuit,
    previous_token_mask,
    qk_circuit,
    replaced_heads,
    token_table,
    uniform_weight,
)
from course_utils.models import DecoderConfig, DecoderLM, Transformer, TransformerConfig
from course_utils.multi_head import MultiHeadAttention, merge_heads, split_heads
from course_utils.positions import RotaryPositions
from course_utils.recording import record_attention

B, L, D_MODEL, H, H_KV = 2, 7, 24, 6, 2
TOKENS = torch.tensor([[5, 3, 8, 8, 2, 17, 4], [1, 2, 3, 4, 5, 6, 7]])
KINDS = {
    "llama": {},
    "gpt2": {"positions": "learned", "norm": "layer", "feed_forward": "gelu", "bias": True, "num_kv_heads": None},
}


def unsettled(net):
    """All weights large and different, biases too."""
    torch.manual_seed(0)
    for parameter in net.parameters():
        nn.init.normal_(parameter, mean=1.0 if parameter.dim() == 1 else 0.0, std=0.3)
    return net.eval()


def decoder(kind="llama", **changes):
    sizes = {"num_layers": 3, "d_model": D_MODEL, "d_ff": 40, "num_heads": H, "num_kv_heads": H_KV, "max_len": 12}
    return unsettled(DecoderLM(DecoderConfig(19, **sizes | KINDS[kind] | changes)))


def attention(**options):
    layer = unsettled(MultiHeadAttention(D_MODEL, H, **{"num_kv_heads": H_KV} | options))
    return layer.double()


# --- scores


def test_masks_by_hand():
    tokens = torch.tensor([[7, 4, 7, 4, 9, 7]])
    pairs = {
        current_token_mask: [(i, i) for i in range(6)],
        previous_token_mask: [(i, i - 1) for i in range(1, 6)],
        first_token_mask: [(i, 0) for i in range(1, 6)],
        duplicate_token_mask: [(2, 0), (3, 1), (5, 0), (5, 2)],
        induction_mask: [(2, 1), (3, 2), (5, 1), (5, 3)],
    }
    for mask_of, expected in pairs.items():
        assert [tuple(pair) for pair in mask_of(tokens)[0].nonzero().tolist()] == expected, mask_of.__name__


@pytest.mark.parametrize(
    "mask_of", [current_token_mask, previous_token_mask, first_token_mask, duplicate_token_mask, induction_mask]
)
def test_a_perfect_head_scores_one_others_less_and_a_uniform_one_the_landmark(mask_of):
    torch.manual_seed(0)
    half = torch.stack([torch.randperm(9) for _ in range(3)])  # no token twice in a half
    mask = mask_of(torch.cat((half, half), dim=1))
    perfect = mask.double() / mask.sum(-1, keepdim=True).clamp(min=1)
    uniform = torch.ones(18, 18, dtype=torch.float64).tril()
    uniform = (uniform / uniform.sum(-1, keepdim=True)).expand(3, -1, -1)
    others = [other(torch.cat((half, half), dim=1)).double() for other in (current_token_mask, previous_token_mask)]
    scores = mean_weight(torch.stack((perfect, uniform, *others), dim=1), mask)
    assert scores[0] == 1.0
    assert scores[1].item() == pytest.approx(uniform_weight(mask), abs=1e-6) and scores[1] < 0.35
    for other, score in zip((current_token_mask, previous_token_mask), scores[2:], strict=True):
        assert (score == 1.0) == (other is mask_of) and (score > 0.2) == (other is mask_of)


def test_scores_average_over_the_queries_that_have_a_key():
    weights = torch.zeros(2, 1, 3, 3)
    weights[0, 0, 2, 1], weights[1, 0, 2, 1] = 0.9, 0.4
    tokens = torch.tensor([[7, 4, 7], [7, 4, 5]])
    assert mean_weight(weights, induction_mask(tokens)).tolist() == pytest.approx([0.9])  # the second has no query
    with pytest.raises(ValueError, match="no key for any query"):
        mean_weight(weights[1:], induction_mask(tokens[1:]))
    with pytest.raises(ValueError, match=r"mask has shape \(1, 3, 3\); expected \(B, L, L\) = \(2, 3, 3\)"):
        mean_weight(weights, induction_mask(tokens[:1]))


# --- matrices


@torch.no_grad()
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rotary", [True, False])
@pytest.mark.parametrize("head", [0, 2, 5])
def test_qk_gives_the_scores_of_the_head(bias, rotary, head):
    layer = attention(bias=bias, rotary=RotaryPositions(D_MODEL // H, base=50.0).double() if rotary else None)
    x = torch.randn(B, L, D_MODEL, dtype=torch.float64)
    q, k, _ = layer._heads(x, None, None, None, None)
    scores = q[:, head] @ k[:, head // (H // H_KV)].mT / math.sqrt(layer.d_head)  # (B, L, L)
    for query, key in [(6, 2), (3, 3), (1, 0), (2, 5)]:
        m, by_query, by_key, constant = qk_circuit(layer, head, distance=query - key)
        left, right = x[:, query], x[:, key]
        found = ((left @ m) * right).sum(-1) + left @ by_query + right @ by_key + constant
        torch.testing.assert_close(found, scores[:, query, key], atol=1e-5, rtol=1e-5)  # the angles are float32
    assert torch.linalg.matrix_rank(m) == layer.d_head
    assert bias == bool(by_key.any())


@torch.no_grad()
@pytest.mark.parametrize("bias", [True, False])
def test_ov_of_all_heads_adds_up_to_the_output(bias):
    layer = attention(bias=bias)
    x = torch.randn(B, L, D_MODEL, dtype=torch.float64)
    output, weights = layer(x, return_weights=True)
    found = 0.0 if not bias else layer.o_proj.bias
    for head in range(H):
        matrix, own = ov_circuit(layer, head)
        found = found + weights[:, head] @ (x @ matrix.T + own)
        assert torch.linalg.matrix_rank(matrix) == layer.d_head
    torch.testing.assert_close(found, output)


def test_what_there_is_not_is_named():
    with pytest.raises(ValueError, match=r"head \(6\) must be 0 to 5"):
        ov_circuit(attention(), 6)
    with pytest.raises(ValueError, match="distance is missing"):
        qk_circuit(attention(rotary=RotaryPositions(4)), 0)


def test_a_table_by_hand_and_its_copying():
    embedding, output = torch.eye(3), torch.eye(3)[:2]
    matrix = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    assert token_table(matrix, embedding, output).tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    assert copying_score(torch.eye(5)) == pytest.approx(1.0)
    assert copying_score(-torch.eye(5)) == pytest.approx(-1.0)
    assert copying_score(torch.eye(4).roll(1, 0)) == pytest.approx(0.0, abs=1e-6)  # everything moves on
    torch.manual_seed(0)
    assert abs(copying_score(torch.randn(200, 200))) < 0.1


def test_composition_is_one_for_what_fits_and_zero_for_what_never_meets():
    reader, writer = torch.zeros(3, 4), torch.zeros(4, 5)
    reader[0, 1], writer[1, 2] = 2.0, 3.0
    assert composition_score(reader, writer) == pytest.approx(1.0)
    assert composition_score(reader, writer.roll(1, 0)) == 0.0


# --- contributions


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
def test_shares_add_up_to_the_logits(kind):
    model = decoder(kind)
    found, logits = contributions(model, TOKENS), model(TOKENS)
    assert len(found.parts) == 1 + 3 * (H + 1 + (kind == "gpt2"))
    for tokens in (TOKENS, (TOKENS + 5) % 19):
        shares = found.to_logits(tokens)
        expected = logits.gather(-1, tokens[..., None])[..., 0]
        torch.testing.assert_close(torch.stack(list(shares.values())).sum(0), expected, atol=1e-5, rtol=1e-5)
    *_, (name, last) = found.logits_so_far()
    assert name == "layers.2.feed_forward"
    torch.testing.assert_close(last, logits, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_shares_of_the_pronouncer_add_up():
    model = pretrained.load("transformer")
    source, target = torch.tensor([[5, 3, 8, 4, 2], [7, 7, 3, 2, 0]]), torch.tensor([[1, 5, 9], [1, 30, 8]])
    found = contributions(model, source, target)
    shares = torch.stack(list(found.to_logits(target.roll(-1, 1)).values()))
    expected = model(source, target).gather(-1, target.roll(-1, 1)[..., None])[..., 0]
    torch.testing.assert_close(shares.sum(0), expected, atol=1e-5, rtol=1e-5)
    assert "decoder_layers.3.cross_attention head 3" in found.parts


@torch.no_grad()
def test_a_part_is_what_its_head_adds():
    """The last layer's head, removed, takes exactly its part from the stream."""
    model = decoder()
    whole = contributions(model, TOKENS)
    with replaced_heads(model, {("layers.2.self_attention", 4): 0.0}):
        without = contributions(model, TOKENS)
    assert not without.parts["layers.2.self_attention head 4"].any()
    torch.testing.assert_close(
        without.parts["layers.2.self_attention head 3"], whole.parts["layers.2.self_attention head 3"]
    )


def test_models_whose_stream_is_no_sum_are_refused():
    sizes = {"num_layers": 1, "d_model": 8, "d_ff": 8, "num_heads": 2}
    post = Transformer(TransformerConfig(9, 9, **sizes, pre_norm=False)).eval()
    with pytest.raises(ValueError, match="must be pre-norm"):
        contributions(post, TOKENS % 9, TOKENS % 9)
    with pytest.raises(ValueError, match="model is in training mode"):
        contributions(decoder().train(), TOKENS)
    with pytest.raises(ValueError, match="model is a Linear"):
        contributions(nn.Linear(2, 2), TOKENS)
    with pytest.raises(ValueError, match=r"tokens has shape \(2, 3\); expected \(B=2, L=7\)"):
        contributions(decoder(), TOKENS).to_logits(TOKENS[:, :3])


# --- interventions


@torch.no_grad()
def test_a_head_is_replaced_by_what_was_asked_for_and_comes_back():
    layer = attention(bias=False).float()
    model, x = nn.Sequential(layer), torch.randn(B, L, D_MODEL)
    _, weights = layer(x, return_weights=True)
    v = split_heads(layer.v_proj(x), H_KV).repeat_interleave(H // H_KV, dim=1)
    heads = weights @ v  # (B, H, L, d_head)
    before = model(x)
    other = torch.randn(L, layer.d_head)
    for what, value in [(0.0, 0.0), (1.5, 1.5), (other, other), ("mean", heads[:, 3].mean((0, 1)))]:
        changed = heads.clone()
        changed[:, 3] = value
        with replaced_heads(model, {("0", 3): what}):
            torch.testing.assert_close(model(x), layer.o_proj(merge_heads(changed)))
    assert torch.equal(model(x), before)
    with pytest.raises(ValueError, match="outputs holds 'zero'"), replaced_heads(model, {("0", 3): "zero"}):
        pass
    with (
        pytest.raises(ValueError, match=r"'1' is no attention of this model; there are 0"),
        replaced_heads(model, {("1", 3): 0}),
    ):
        pass
    with pytest.raises(ValueError, match=r"head \(-1\)"), replaced_heads(model, {("0", -1): 0}):
        pass


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("into", "qkv")
def test_a_cut_path_hides_the_writer_from_one_input_only(kind, into):
    """Against the same computed by hand: q, k, v of one head from a stream without the writer's part."""
    model = decoder(kind, num_layers=2, num_kv_heads=None)
    writer, reader = ("layers.0.self_attention", 1), ("layers.1.self_attention", 4)
    whole = contributions(model, TOKENS)
    part = whole.parts["layers.0.self_attention head 1"]
    layer = model.layers[1]
    names = [name for name in whole.parts if name.startswith(("embedding", "layers.0"))]
    stream = torch.stack([whole.parts[name] for name in names]).sum(0)
    seen = {name: stream - part if name == into else stream for name in "qkv"}
    own = layer.self_attention
    q, k, v = (split_heads(getattr(own, f"{n}_proj")(layer.attention_norm(seen[n])), H)[:, 4:5] for n in "qkv")
    if own.rotary is not None:
        q, k = own.rotary(q), own.rotary(k)
    expected = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)[:, 0]  # (B, L, d_head)
    with cut_path(model, writer, reader, into):
        cut = contributions(model, TOKENS)
        with record_attention(model):
            torch.testing.assert_close(model(TOKENS), model.generator(model.norm(cut.stream())), atol=1e-4, rtol=1e-4)
    rows = slice(4 * own.d_head, 5 * own.d_head)
    found = cut.parts["layers.1.self_attention head 4"]
    torch.testing.assert_close(found, expected @ own.o_proj.weight[:, rows].T, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(found, whole.parts["layers.1.self_attention head 4"], atol=1e-3)
    same = [name for name in whole.parts if name.startswith("layers.1.self_attention") and not name.endswith("head 4")]
    for name in [*names, *same]:
        torch.testing.assert_close(cut.parts[name], whole.parts[name])


@torch.no_grad()
def test_several_writers_are_hidden_together_and_never_one_over_the_other():
    model = decoder(num_layers=3, num_kv_heads=None)
    writers, reader = [("layers.0.self_attention", 1), ("layers.1.self_attention", 3)], ("layers.2.self_attention", 4)
    whole = contributions(model, TOKENS)
    layer = model.layers[2]
    stream = torch.stack([part for name, part in whole.parts.items() if not name.startswith("layers.2")]).sum(0)
    hidden = stream - whole.parts["layers.0.self_attention head 1"] - whole.parts["layers.1.self_attention head 3"]
    keys = layer.self_attention.k_proj(layer.attention_norm(hidden))
    seen = []
    watching = layer.self_attention.k_proj.register_forward_hook(lambda _m, _a, output: seen.append(output))
    with cut_path(model, writers, reader, "k"):
        layer.self_attention.k_proj.register_forward_hook(lambda _m, _a, output: seen.append(output))
        model(TOKENS)
        with pytest.raises(ValueError, match="cut already"), cut_path(model, writers[0], reader, "k"):
            pass
    watching.remove()
    rows = slice(4 * layer.self_attention.d_head, 5 * layer.self_attention.d_head)
    torch.testing.assert_close(seen[-1][..., rows], keys[..., rows], atol=1e-4, rtol=1e-4)
    assert not torch.allclose(seen[0][..., rows], seen[-1][..., rows], atol=1e-3)
    with cut_path(model, writers[0], reader, "k"):  # free again
        pass


def test_paths_that_there_are_not_are_refused():
    model, first, second = decoder(), ("layers.0.self_attention", 1), ("layers.1.self_attention", 4)
    for arguments, message in [
        ((second, first, "k"), "must stand in an earlier layer"),
        ((first, first, "k"), "must stand in an earlier layer"),
        ((first, second, "o"), r"into \('o'\)"),
        ((first, ("layers.1.self_attention", 6), "k"), r"head \(6\)"),
    ]:
        with pytest.raises(ValueError, match=message), cut_path(model, *arguments):
            pass
    sizes = {"num_layers": 2, "d_model": 8, "d_ff": 8, "num_heads": 2}
    post, pre = (Transformer(TransformerConfig(9, 9, **sizes, pre_norm=pre)) for pre in (False, True))
    first, second, cross, other = (
        (name, 0)
        for name in (
            "decoder_layers.0.self_attention",
            "decoder_layers.1.self_attention",
            "decoder_layers.1.cross_attention",
            "encoder_layers.0.self_attention",
        )
    )
    for model, writer, reader, message in [
        (post, first, second, "post-norm"),
        (pre, first, cross, "must be a self-attention"),
        (pre, other, second, "same stack"),
    ]:
        with pytest.raises(ValueError, match=message), cut_path(model, writer, reader, "k"):
            pass
