"""The references of lesson 06's checks against truth from outside: PyTorch, and each other."""

import pytest
import torch

from course_utils import multi_head
from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find
from course_utils.checks.judges.judge import cases_of
from course_utils.checks.probes import probe_of


def answers(number):
    """What the reference gives in each case, beside the case."""
    entry = find(number)
    return [(case, probe_of(number).call(entry.with_parts(), dict(case))) for case in cases_of(entry, SEED)]


def test_split_and_merge_are_the_librarys():
    for case, heads in answers("6.1"):
        assert torch.equal(heads, multi_head.split_heads(case["x"], case["num_heads"]))
    for case, merged in answers("6.2"):
        assert torch.equal(merged, multi_head.merge_heads(case["x"]))


def test_attention_with_heads_is_pytorchs_without_bias_or_output_projection():
    for case, (output, weights) in answers("6.4"):
        H, query, memory = case["num_heads"], case["query"], case["memory"]
        q, k, v = (
            multi_head.split_heads(x @ case[W].T, H) for x, W in ((query, "W_q"), (memory, "W_k"), (memory, "W_v"))
        )
        expected = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        torch.testing.assert_close(output, multi_head.merge_heads(expected))
        torch.testing.assert_close(torch.einsum("bijh,bhjd->bhid", weights, v), expected)


def test_self_attention_is_that_with_identities_for_matrices():
    for case, (output, weights) in answers("6.6"):
        x = case["x"]
        one = torch.eye(x.shape[-1], dtype=x.dtype)
        expected = find("6.4").with_parts()(x, x, one, one, one, case["num_heads"])
        torch.testing.assert_close(output, expected[0])
        torch.testing.assert_close(weights, expected[1].permute(0, 3, 1, 2))


@pytest.mark.parametrize("bias", [True, False])
def test_unpacked_parameters_make_pytorchs_attention(bias):
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(12, 3, bias=bias, batch_first=True)
    if bias:
        torch.nn.init.normal_(module.in_proj_bias)
        torch.nn.init.normal_(module.out_proj.bias)
    query, memory, mask = torch.randn(2, 4, 12), torch.randn(2, 5, 12), torch.ones(4, 5, dtype=torch.bool).tril(1)
    params = find("6.5").with_parts()(dict(module.named_parameters()))
    assert len(params) == (8 if bias else 4)
    params = {f"{name}_proj.bias": torch.zeros(12) for name in "qkvo"} | params
    expected = module(query, memory, memory, attn_mask=~mask, average_attn_weights=False)
    for have, want in zip(find("6.3").with_parts()(query, memory, params, 3, mask), expected, strict=True):
        torch.testing.assert_close(have, want)
