"""The worked solutions of lesson 09 against PyTorch and the statements' examples, and what its checks must notice."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course_checks.deciding.decide import cases_of
from course_checks.deciding.find import find
from course_checks.engine import SEED, run
from course_utils.layers import EncoderLayer
from course_utils.masks import padding_mask


def right(number):
    return find(number).right


def test_norms_are_pytorchs():
    for case in find("9.1").cases(SEED):
        x, weight, bias, eps = case.values()
        torch.testing.assert_close(
            right("9.1")(x, weight, bias, eps), F.layer_norm(x, weight.shape, weight, bias, eps), rtol=1e-4, atol=1e-5
        )
    for case in find("9.2").cases(SEED):
        x, weight, eps = case.values()
        torch.testing.assert_close(right("9.2")(x, weight, eps), F.rms_norm(x, weight.shape, weight, eps))


def test_a_variance_below_zero_is_noticed():
    def layer_norm(x, weight, bias, eps):
        variance = x.square().mean(-1, keepdim=True) - x.mean(-1, keepdim=True).square()
        return (x - x.mean(-1, keepdim=True)) / (variance + eps).sqrt() * weight + bias

    for seed in range(5):
        *_, level = find("9.1").cases(seed)
        assert layer_norm(**level).isnan().any()
    assert "below 0" in run(find("9.1"), layer_norm).looks_like


@pytest.mark.parametrize(("by_tanh", "approximate"), [(False, "none"), (True, "tanh")])
def test_gelu_is_pytorchs(by_tanh, approximate):
    x = 3 * torch.randn(50, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(right("9.3")(x, by_tanh), F.gelu(x, approximate=approximate))


def test_residual_is_the_statements_example():
    x = torch.tensor([[[1.0, 3.0]]])
    for pre_norm, expected in ((True, [[[1.0, 5.0]]]), (False, [[[-1.0, 1.0]]])):
        output = right("9.4")(2, 0.0, pre_norm)(x, lambda y: y + 1)
        torch.testing.assert_close(output, torch.tensor(expected), atol=1e-4, rtol=0)


def copy_attention(ours, theirs):
    """PyTorch keeps the three projections of a multi-head attention as one matrix."""
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([p.weight for p in (ours.q_proj, ours.k_proj, ours.v_proj)]))
        theirs.in_proj_bias.copy_(torch.cat([p.bias for p in (ours.q_proj, ours.k_proj, ours.v_proj)]))
    theirs.out_proj.load_state_dict(ours.o_proj.state_dict())


def copy_rest(ours, theirs, norms):
    theirs.linear1.load_state_dict(ours.feed_forward.up_proj.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.down_proj.state_dict())
    for number in norms:
        nn.init.normal_(getattr(ours, f"norm_{number}").weight)
        getattr(theirs, f"norm{number}").load_state_dict(getattr(ours, f"norm_{number}").state_dict())


@pytest.mark.parametrize("pre_norm", [True, False])
def test_encoder_layer_is_pytorchs(pre_norm):
    ours = right("9.5")(6, 2, 10, 0.0, pre_norm).eval()
    theirs = nn.TransformerEncoderLayer(6, 2, 10, dropout=0.0, batch_first=True, norm_first=pre_norm).eval()
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_rest(ours, theirs, (1, 2))
    x, tokens = torch.randn(2, 4, 6), torch.tensor([[1, 2, 3, 0], [1, 2, 3, 4]])
    expected = theirs(x, src_key_padding_mask=tokens == 0)
    kept = tokens != 0
    torch.testing.assert_close(ours(x, padding_mask(tokens, 0))[kept], expected[kept])


def test_decoder_layer_is_pytorchs():
    ours = right("9.6")(6, 2, 10, 0.0).eval()
    theirs = nn.TransformerDecoderLayer(6, 2, 10, dropout=0.0, batch_first=True, norm_first=True).eval()
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    copy_rest(ours, theirs, (1, 2, 3))
    x, memory, source = torch.randn(2, 3, 6), torch.randn(2, 4, 6), torch.tensor([[1, 2, 3, 0], [1, 2, 3, 4]])
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    expected = theirs(x, memory, tgt_mask=~causal, memory_key_padding_mask=source == 0)
    torch.testing.assert_close(ours(x, memory, causal[None, None], padding_mask(source, 0)), expected)


def centered(y):
    return y - y.mean(-1, keepdim=True)


@pytest.mark.parametrize(
    ("wiring", "expected"), [("sandwich", [-4.667, -8.667, 19.333]), ("parallel", [4.0, 2.0, 17.0])]
)
def test_wirings_are_the_statements_example(wiring, expected):
    norms = [centered] * (4 if wiring == "sandwich" else 1)
    output = right("9.7")(torch.tensor([[[0.0, 1.0, 5.0]]]), torch.relu, torch.square, norms, wiring)
    torch.testing.assert_close(output, torch.tensor([[expected]]), atol=1e-3, rtol=0)


def test_a_wiring_that_never_ends_is_stopped():
    def wired(x, attend, network, norms, wiring):
        while True:
            attend(x)

    assert "attend was called more than" in run(find("9.7"), wired).text()


def test_record_is_the_statements_example():
    streams, added = right("9.8")(torch.ones(1, 1, 2), [torch.neg, torch.exp])
    assert [s[0, 0, 0].item() for s in streams] == [1, 0, 1] and [s[0, 0, 1].item() for s in added] == [-1, 1]


@pytest.mark.parametrize("number", ["9.7", "9.8"])
def test_failing_case_can_be_called(number):
    entry = find(number)
    right(number)(*entry.call.shown(cases_of(entry, SEED)[0]).values())


SIZES = {"full": (1.48, 2.83, 6.1), "root": (1.13, 1.15, 1.16), "share": (1.04, 1.02, 1.02)}
TABLE = {(d, s): [row[i] + 0.01 * n for n in range(5)] for s, row in SIZES.items() for i, d in enumerate((2, 8, 32))}
RESULTS = TABLE | {"law": "sqrt(N)", "size at 128": 12.2, "steady": "root"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({(32, "full"): None}, "(32, 'full')"),
        ({(32, "full"): [6.1] * 4}, "5 runs"),
        ({(8, "root"): [2.8, 2.9, 2.8, 2.7, 2.8]}, "your mean size is 2.800"),
        ({(8, "full"): [1, 2, 3, 4, 5]}, "one of your sizes is 1.000"),
        ({(8, "full"): 2.83}, "entry (8, 'full') is 2.83"),
        ({(2, "share"): "1.03"}, "entry (2, 'share') is '1.03'"),
        ({"law": "N"}, "your law says 4 times"),
        ({"law": "log N"}, "one of"),
        ({"size at 128": 24.4}, "you expect 24.40"),
        ({"steady": "share"}, "you say 'share'"),
        ({"steady": "full"}, "you say 'full'"),
    ],
)
def test_the_experiment_is_held_to_its_own_numbers(change, words):
    results = {key: value for key, value in (RESULTS | change).items() if value is not None}
    verdict = run(find("9.9"), results)
    assert not verdict.passed and words in verdict.text()


def test_measured_sizes_pass():
    assert run(find("9.9"), RESULTS).passed


@torch.no_grad()
@pytest.mark.parametrize("pre_norm", [True, False])
def test_only_a_norm_at_the_start_forgets_how_large_the_input_is(pre_norm):
    """The quiz, 9.10."""
    torch.manual_seed(0)
    stack = [EncoderLayer(8, 2, 16, pre_norm=pre_norm).eval() for _ in range(2)]
    x, outputs = torch.randn(1, 5, 8), []
    for stream in (x, 10 * x, F.layer_norm(x, (8,)), F.layer_norm(10 * x, (8,))):
        for layer in stack:
            stream = layer(stream)
        outputs.append(F.layer_norm(stream, (8,)))
    assert (outputs[0] - outputs[1]).abs().max() > 0.05
    torch.testing.assert_close(outputs[2], outputs[3], atol=1e-3, rtol=0)
