"""The references of lesson 09's checks against PyTorch, and against the examples of the statements."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find
from course_utils.masks import padding_mask
from course_utils.multi_head import MultiHeadAttention


def right(number):
    return find(number).with_parts()


def test_norms_are_pytorchs():
    for case in find("9.1").cases(SEED):
        x, weight, bias, eps = case.values()
        torch.testing.assert_close(right("9.1")(x, weight, bias, eps), F.layer_norm(x, weight.shape, weight, bias, eps))
    for case in find("9.2").cases(SEED):
        x, weight, eps = case.values()
        torch.testing.assert_close(right("9.2")(x, weight, eps), F.rms_norm(x, weight.shape, weight, eps))


def test_network_computes_the_absolute_value():
    params = {"up_proj.weight": torch.tensor([[1.0], [-1.0]]), "up_proj.bias": torch.zeros(2)}
    params |= {"down_proj.weight": torch.ones(1, 2), "down_proj.bias": torch.zeros(1)}
    x = torch.tensor([[[-2.0], [3.0]]])
    torch.testing.assert_close(right("9.3")(x, params), x.abs())


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
    output = ours(x, memory, causal[None, None], padding_mask(source, 0))
    torch.testing.assert_close(output, expected)


class Plus(nn.Module):
    def forward(self, x, mask):
        return x + torch.tensor([1.0, 3.0])


def test_stack_normalizes_what_its_layers_give():
    output = right("9.7")(Plus, 2, 2)(torch.zeros(1, 1, 2), None)  # (2, 6): mean 4, deviation 2
    torch.testing.assert_close(output, torch.tensor([[[-1.0, 1.0]]]), atol=1e-4, rtol=0)


def test_padding_of_the_source_does_not_matter():
    attentions = MultiHeadAttention(6, 2), MultiHeadAttention(6, 2)
    x, memory, source = torch.randn(1, 3, 6), torch.randn(1, 5, 6), torch.tensor([[0, 4, 2, 7, 0]])
    target = torch.tensor([[1, 2, 3]])
    other = torch.where((source == 0)[..., None], torch.randn(1, 5, 6), memory)
    first, second = (right("9.8")(x, m, target, source, *attentions) for m in (memory, other))
    torch.testing.assert_close(first, second)
    alone = right("9.8")(x, memory[:, 1:4], target, source[:, 1:4], *attentions)
    torch.testing.assert_close(first, alone)
