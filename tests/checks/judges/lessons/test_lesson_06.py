"""The references of lesson 06's checks against truth from outside: PyTorch, and each other."""

import pytest
import torch

from course_utils import multi_head
from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find
from course_utils.checks.judges.judge import cases_of, judge_for
from course_utils.checks.probes import observe_answer, probe_of
from course_utils.checks.probes.codec import pack, unpack


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


def test_multi_head_attention_is_pytorchs():
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    torch.nn.init.normal_(module.in_proj_bias)
    torch.nn.init.normal_(module.out_proj.bias)
    query, memory, mask = torch.randn(2, 4, 12), torch.randn(2, 5, 12), torch.ones(4, 5, dtype=torch.bool).tril(1)
    params = {}
    for part in ("weight", "bias"):
        thirds = module.get_parameter(f"in_proj_{part}").chunk(3)
        params |= {f"{name}_proj.{part}": third for name, third in zip("qkv", thirds, strict=True)}
        params[f"o_proj.{part}"] = module.get_parameter(f"out_proj.{part}")
    expected = module(query, memory, memory, attn_mask=~mask, average_attn_weights=False)
    for have, want in zip(find("6.3").with_parts()(query, memory, params, 3, mask), expected, strict=True):
        torch.testing.assert_close(have, want)


@pytest.mark.parametrize("name", ["q_proj.weight", "v_proj.bias", "q_proj.bias", "o_proj.bias", "k_proj.weight"])
def test_a_gradient_cut_at_one_parameter_is_seen(name):
    def cut(query, memory, params, num_heads, mask):
        params = {key: value.detach() if key == name else value for key, value in params.items()}
        return find("6.3").with_parts()(query, memory, params, num_heads, mask)

    inputs = cases_of(find("6.3"), SEED)
    verdict = judge_for(find("6.3"), inputs)(unpack(*pack(observe_answer("6.3", cut, inputs, guarded=False))))
    assert not verdict.passed and "gradient" in verdict.text()


def test_heads_of_different_sizes_are_pytorchs_one_by_one():
    for case, (output, weights) in answers("6.5"):
        parts = zip(*(case[name].split(case["sizes"], -1) for name in "qkv"), strict=True)
        expected = [torch.nn.functional.scaled_dot_product_attention(*part) for part in parts]
        torch.testing.assert_close(output, torch.cat(expected, -1))
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


def test_roles_of_the_statements_example():
    case, roles = answers("6.7")[0]
    assert case["alone"].tolist() == [0, 0, 2, 0] and case["pairs"][0].tolist() == [0, 1, 2, 0]
    assert roles == ["doubled", "doubled", "needed", "idle"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({(4, 2): None}, "(4, 2)"),
        ({(4, 2): [0.45] * 4}, "5 runs"),
        ({(2, 1): [0.001, 0.002, 0.001, 0.001, 0.001]}, "do not come to"),
        ({(4, 1): [0.697, 0.739, 0.709, 0.703, 0.702]}, "do not come to"),  # these are of 100 updates
        (
            {(4, 2): [0.461, 0.462, 0.463, 0.464, 0.465], (2, 1): [0.44, 0.45, 0.43, 0.47, 0.43]},
            "with 2 marks and 1 head",
        ),
        (
            {(2, 8): [0.0006, 0.0016, 0.0026, 0.0036, 0.0046], (2, 4): [0.0006, 0.0016, 0.0026, 0.0036, 0.0046]},
            "the same five",
        ),
        ({"enough for 2 marks": "2"}, "without quotes"),
        ({"enough for 4 marks": 2}, "enough for 4 marks"),
        ({"enough for 2 marks": 8}, "enough for 2 marks"),
        ({"law": "1 / (1 + heads)"}, "another only by"),
        ({"law": "heads"}, "one of"),
    ],
)
def test_the_experiment_is_judged_by_its_own_numbers(change, said):
    entry = find("6.8")
    results = {key: value for key, value in (entry.example() | change).items() if value is not None}
    verdict = judge_for(entry, [])(unpack(*pack(observe_answer("6.8", results, []))))
    assert not verdict.passed and said in verdict.text()


def test_the_experiments_example_is_right():
    entry = find("6.8")
    assert judge_for(entry, [])(unpack(*pack(observe_answer("6.8", entry.example(), [])))).passed
