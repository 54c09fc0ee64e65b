"""The Transformer against nn.Transformer, against parameter counts worked by hand, and by its properties."""

import dataclasses
import itertools

import pytest
import torch
from pytorch_weights import copy_transformer, unsettle
from torch import nn

from course_utils.masks import causal_mask, combine_masks, padding_mask
from course_utils.models import Transformer, TransformerConfig, count_parameters, make_transformer
from course_utils.recording import record_attention

SRC, TGT, N, D_MODEL, D_FF, H = 11, 13, 3, 24, 40, 4
SOURCE = torch.tensor([[5, 3, 8, 8, 2, 0, 0], [1, 2, 3, 4, 5, 6, 7]])
TARGET = torch.tensor([[1, 2, 3, 12, 5], [1, 4, 2, 0, 0]])
B, L_S, L_T = 2, 7, 5
POSITIONS = ("sinusoidal", "learned", "rotary", "none")


def model(**changes):
    torch.manual_seed(0)
    sizes = {"num_layers": N, "d_model": D_MODEL, "d_ff": D_FF, "num_heads": H, "max_len": 9}
    return unsettle(Transformer(TransformerConfig(SRC, TGT, **sizes | changes))).eval()


def pair(pre_norm):
    """Ours and PyTorch's with the same weights."""
    ours = model(pre_norm=pre_norm)
    sizes = {"d_model": D_MODEL, "nhead": H, "num_encoder_layers": N, "num_decoder_layers": N, "dim_feedforward": D_FF}
    theirs = nn.Transformer(**sizes, batch_first=True, norm_first=pre_norm).eval()
    copy_transformer(ours, unsettle(theirs))
    return ours, theirs


def pytorchs_masks():
    """There True means "ignore"."""
    return {
        "tgt_mask": ~causal_mask(L_T)[0, 0],
        "src_key_padding_mask": SOURCE == 0,
        "tgt_key_padding_mask": TARGET == 0,
        "memory_key_padding_mask": SOURCE == 0,
    }


@pytest.mark.parametrize("pre_norm", [True, False])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_equals_pytorchs(pre_norm):
    ours, theirs = pair(pre_norm)
    source, target = ours.source_embedding(SOURCE), ours.target_embedding(TARGET)
    memory = theirs.encoder(source, src_key_padding_mask=SOURCE == 0)
    torch.testing.assert_close(ours.encode(SOURCE), memory, atol=1e-4, rtol=1e-4)
    hidden = theirs(source, target, **pytorchs_masks())
    decoded = ours.decode(TARGET, ours.encode(SOURCE), memory_mask=padding_mask(SOURCE, 0))
    torch.testing.assert_close(decoded, hidden, atol=1e-4, rtol=1e-4)
    with record_attention(ours) as seen:
        explicit = ours(SOURCE, TARGET)
    for logits in (ours(SOURCE, TARGET), explicit):
        torch.testing.assert_close(logits, ours.generator(hidden), atol=1e-4, rtol=1e-4)
    for weights, shape in (
        (seen.matching("encoder_layers.*.self_attention"), (B, H, L_S, L_S)),
        (seen.matching("decoder_layers.*.self_attention"), (B, H, L_T, L_T)),
        (seen.matching("decoder_layers.*.cross_attention"), (B, H, L_T, L_S)),
    ):
        assert [tuple(w.shape) for w in weights] == [shape] * N
        torch.testing.assert_close(torch.stack(weights).sum(-1), torch.ones(N, *shape[:-1]))


@pytest.mark.parametrize("pre_norm", [True, False])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_gradients_equal_pytorchs(pre_norm):
    ours, theirs = pair(pre_norm)
    embeddings = (ours.source_embedding, ours.target_embedding)
    grads = []
    for run, attention in (
        (lambda: ours(SOURCE, TARGET), ours.decoder_layers[1].cross_attention.q_proj),
        (lambda: ours.generator(theirs(embeddings[0](SOURCE), embeddings[1](TARGET), **pytorchs_masks())), None),
    ):
        ours.zero_grad()
        run().log_softmax(-1)[TARGET != 0].pow(2).mean().backward()
        packed = theirs.decoder.layers[1].multihead_attn.in_proj_weight.grad
        query = attention.weight.grad.clone() if attention else packed[:D_MODEL]
        grads.append([query, *(embedding.tokens.weight.grad.clone() for embedding in embeddings)])
    torch.testing.assert_close(*grads, atol=1e-5, rtol=1e-4)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_parameters_of_the_base_model_counted_by_hand():
    attention = 4 * (512 * 512 + 512)  # query, key, value, output: 1,050,624
    feed_forward = (512 * 2048 + 2048) + (2048 * 512 + 512)  # 2,099,712
    norm = 2 * 512
    encoder_layer = attention + feed_forward + 2 * norm  # 3,152,384
    decoder_layer = 2 * attention + feed_forward + 3 * norm  # 4,204,032
    stacks = 6 * encoder_layer + 6 * decoder_layer + 2 * norm
    embeddings_and_generator = 11 * 512 + 11 * 512 + (512 * 11 + 11)  # 16,907
    with torch.device("meta"):  # shapes without numbers: nothing is set aside
        base, theirs = make_transformer(11, 11), nn.Transformer()
    assert count_parameters(base) == stacks + embeddings_and_generator == 44_157_451
    assert count_parameters(base) - embeddings_and_generator == count_parameters(theirs)
    base.generator.weight.requires_grad_(False)
    assert count_parameters(base) == 44_157_451 - 512 * 11  # frozen ones do not count


@pytest.mark.parametrize(
    ("changes", "extra"),
    [
        ({}, 0),
        ({"final_norm": False}, -2 * 2 * D_MODEL),
        ({"pre_norm": False}, 0),
        ({"tie_embeddings": True}, -TGT * D_MODEL),
        ({"positions": "learned"}, 2 * 9 * D_MODEL),
        ({"positions": "rotary"}, 0),
        ({"positions": "none"}, 0),
    ],
)
@pytest.mark.parametrize("num_layers", [1, 3])
def test_each_layer_has_parameters_of_its_own(num_layers, changes, extra):
    attention, feed_forward = 4 * (24 * 24 + 24), (24 * 40 + 40) + (40 * 24 + 24)
    layers = num_layers * ((attention + feed_forward + 2 * 48) + (2 * attention + feed_forward + 3 * 48))
    expected = layers + 2 * 48 + SRC * 24 + TGT * 24 + (24 * TGT + TGT) + extra
    assert count_parameters(model(num_layers=num_layers, **changes)) == expected


def test_starting_values():
    torch.manual_seed(0)
    net = make_transformer(500, 600, 1, 64, 256, 4)
    up = net.encoder_layers[0].feed_forward.up_proj
    # Xavier: uniform up to this
    assert up.weight.abs().max().item() == pytest.approx((6 / (64 + 256)) ** 0.5, rel=0.01)
    assert up.weight.std().item() == pytest.approx((2 / (64 + 256)) ** 0.5, rel=0.02)
    assert (up.bias == 0).all()
    for embedding in (net.source_embedding, net.target_embedding):
        assert embedding.tokens.weight.std().item() == pytest.approx(64**-0.5, rel=0.02)
    tied = Transformer(TransformerConfig(500, 600, 1, 64, 256, 4, tie_embeddings=True, positions="learned"))
    assert tied.generator.weight is tied.target_embedding.tokens.weight
    assert tied.generator.weight.std().item() == pytest.approx(64**-0.5, rel=0.02)
    assert tied.source_embedding.positions.table.std().item() == pytest.approx(0.02, rel=0.05)


@pytest.mark.parametrize(("pre_norm", "positions"), list(itertools.product((True, False), POSITIONS)))
def test_nothing_leaks_from_the_future(pre_norm, positions):
    net = model(pre_norm=pre_norm, positions=positions)
    target = torch.tensor([[1, 2, 3, 12, 5]])
    embedded = []
    net.target_embedding.register_forward_hook(lambda m, i, out: embedded.append(out.retain_grad() or out))
    logits = net(SOURCE[1:], target)
    for i in range(L_T):
        (gradient,) = torch.autograd.grad(logits[0, i].pow(2).sum(), embedded[0], retain_graph=True)
        assert (gradient[0, i + 1 :] == 0).all() and (gradient[0, : i + 1] != 0).any(-1).all()


@pytest.mark.parametrize("positions", POSITIONS)
def test_padding_changes_nothing(positions):
    """The first source alone, without its two padding tokens, beside the padded batch; the second target likewise."""
    net = model(positions=positions)
    batch = net(SOURCE, TARGET)
    torch.testing.assert_close(net(SOURCE[:1, :5], TARGET[:1]), batch[:1], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(net(SOURCE[1:], TARGET[1:, :3]), batch[1:, :3], atol=1e-5, rtol=1e-5)


def test_a_source_of_nothing_but_padding_gives_finite_numbers_and_gradients():
    net = model()
    logits = net(SOURCE * torch.tensor([[0], [1]]), TARGET)
    logits.pow(2).sum().backward()
    assert torch.isfinite(logits).all()
    assert all(torch.isfinite(p.grad).all() for p in net.parameters() if p.grad is not None)


def test_own_masks_replace_the_default_ones():
    net = model()
    masks = {
        "source_mask": padding_mask(SOURCE, 0),
        "target_mask": combine_masks(padding_mask(TARGET, 0), causal_mask(L_T)),
    }
    assert torch.equal(net(SOURCE, TARGET, **masks), net(SOURCE, TARGET))
    everything = torch.ones(1, 1, 1, L_S, dtype=torch.bool)
    assert not torch.allclose(net(SOURCE, TARGET, source_mask=everything)[0], net(SOURCE, TARGET)[0])
    assert not torch.allclose(net(SOURCE, TARGET, target_mask=everything[..., :L_T]), net(SOURCE, TARGET))


def test_another_padding_id():
    net = model(pad_id=9)
    padded = net(SOURCE.where(SOURCE != 0, 9), TARGET)[0]
    torch.testing.assert_close(padded, net(SOURCE[:, :5], TARGET)[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("positions", POSITIONS)
def test_order_is_seen_only_with_positions(positions):
    net = model(positions=positions)
    source = SOURCE[1:]
    difference = (net(source, TARGET[1:]) - net(source.flip(1), TARGET[1:])).abs().max()
    assert difference < 1e-5 if positions == "none" else difference > 1e-3


def test_double_precision_and_bfloat16():
    net = model(positions="rotary")
    expected = net(SOURCE, TARGET)
    torch.testing.assert_close(net.double()(SOURCE, TARGET).float(), expected, atol=1e-5, rtol=1e-5)
    half = net.bfloat16()(SOURCE, TARGET)
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), expected, atol=0.1, rtol=0.1)


def test_it_learns():
    """Six sequences by heart, in a few steps: every part passes gradients on."""
    torch.manual_seed(0)
    net = make_transformer(SRC, TGT, 1, 32, 64, 4, dropout=0.0)
    source = torch.randint(1, SRC, (6, 5), generator=torch.Generator().manual_seed(1))
    start = torch.cat((torch.full((6, 1), 12), source[:, :-1]), dim=1)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    losses = []
    for _ in range(60):
        loss = nn.functional.cross_entropy(net(source, start).flatten(0, 1), source.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] > 2 and losses[-1] < 0.05
    assert torch.equal(net(source, start).argmax(-1), source)


MODEL = model()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MODEL(SOURCE[0], TARGET), r"\(7,\)"),
        (lambda: MODEL(SOURCE, TARGET[0]), r"\(5,\)"),
        (lambda: MODEL(SOURCE.float(), TARGET), "float32.*token ids"),
        (lambda: MODEL(SOURCE, TARGET.float()), "float32.*token ids"),
        (lambda: MODEL(SOURCE + 5, TARGET), "ids from 5 to 13.*0 to 10"),
        (lambda: MODEL(SOURCE, TARGET[:1]), "batch size.*2.*1"),
        (lambda: MODEL(SOURCE.repeat(1, 2), TARGET), r"0 to 13.*max_len \(9\).*max_len=14"),
        (lambda: MODEL(SOURCE, TARGET, source_mask=causal_mask(L_S)), r"source_mask.*\(1, 1, 7, 7\).*encode"),
        (lambda: MODEL(SOURCE, TARGET, source_mask=SOURCE != 0), r"source_mask.*\(2, 7\).*\(B, 1, 1, L_s\)"),
        (lambda: MODEL(SOURCE, TARGET, source_mask=torch.ones(1, 1, 1, L_S)), "float32"),
        (lambda: MODEL(SOURCE, TARGET, target_mask=causal_mask(L_S)), r"\(1, 1, 7, 7\).*\(2, 4, 5, 5\)"),
        (lambda: MODEL.decode(TARGET, MODEL.encode(SOURCE)), "memory_mask"),
        (lambda: make_transformer(SRC, TGT, num_heads=7), r"num_heads \(7\)"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


def test_defaults_are_the_papers_base_model_and_fixed():
    c = TransformerConfig(11, 13)
    assert (c.num_layers, c.d_model, c.d_ff, c.num_heads, c.dropout) == (6, 512, 2048, 8, 0.1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        c.d_model = 64
    for positions in ("learned", "none"):  # odd sizes are fine without pairs
        TransformerConfig(11, 13, d_model=15, num_heads=3, positions=positions)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"src_vocab": 0}, r"src_vocab \(0\)"),
        ({"tgt_vocab": -1}, r"tgt_vocab \(-1\)"),
        ({"num_layers": 0}, r"num_layers \(0\)"),
        ({"d_model": 0}, r"d_model \(0\)"),
        ({"d_ff": 0}, r"d_ff \(0\)"),
        ({"num_heads": 0}, r"num_heads \(0\)"),
        ({"max_len": 0}, r"max_len \(0\)"),
        ({"num_heads": 5}, r"num_heads \(5\) must divide d_model \(512\)"),
        ({"dropout": 1.0}, r"dropout \(1\.0\)"),
        ({"dropout": -0.1}, r"dropout \(-0\.1\)"),
        ({"positions": "rope"}, r"positions \('rope'\).*'rotary'"),
        ({"d_model": 15, "num_heads": 3}, r"d_model \(15\).*even.*sinusoidal"),
        ({"d_model": 20, "num_heads": 4, "positions": "rotary"}, r"\(5\).*even.*rotary"),
        ({"pad_id": 11}, r"pad_id \(11\).*vocabularies"),
        ({"pad_id": -1}, r"pad_id \(-1\)"),
    ],
)
def test_bad_sizes_are_named(as_a_user, changes, words):
    with pytest.raises(ValueError, match=words):
        TransformerConfig(**{"src_vocab": 11, "tgt_vocab": 13, **changes})
