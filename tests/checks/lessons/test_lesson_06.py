"""The worked solutions of lesson 06 against PyTorch and the library, and what its open experiment accepts."""

import pytest
import torch

from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.find import find
from course_checks.engine import SEED, run
from course_checks.running.observe import observe_value
from course_utils import multi_head


def results(number):
    """What the solution gives in each case, beside the case."""
    exercise = find(number)
    return [(case, exercise.call.on(exercise.right, case)) for case in cases_of(exercise, SEED)]


def test_split_and_merge_are_the_librarys():
    for case, heads in results("6.1"):
        assert torch.equal(heads, multi_head.split_heads(case["x"], case["num_heads"]))
    for case, merged in results("6.2"):
        assert torch.equal(merged, multi_head.merge_heads(case["x"]))


def test_an_x_from_a_transpose_does_not_lie_in_order_and_is_handed_out_so():
    contiguous = []
    for case in cases_of(find("6.1"), SEED):
        find("6.1").call.on(lambda x, num_heads: contiguous.append(x.is_contiguous()), case)
        shown = find("6.1").call.shown(case)
        assert shown["x"].is_contiguous() == contiguous[-1] and torch.equal(shown["x"], case["x"])
    assert contiguous == [True] * (len(contiguous) - 1) + [False]


def test_attention_with_heads_is_pytorchs_without_bias_or_output_projection():
    for case, (output, weights) in results("6.4"):
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
    for have, want in zip(find("6.3").right(query, memory, params, 3, mask), expected, strict=True):
        torch.testing.assert_close(have, want)


def test_all_scores_of_one_case_are_as_low_as_its_label_says():
    [case] = [case for case in cases_of(find("6.3"), SEED) if case.labels]
    query, memory, params = case["query"], case["memory"], case["params"]
    q, k = (
        multi_head.split_heads(x @ params[f"{n}_proj.weight"].T + params[f"{n}_proj.bias"], 2)
        for x, n in ((query, "q"), (memory, "k"))
    )
    scores = q @ k.mT / 2
    assert case.labels == ("all scores are near -100000",)
    assert scores.min() > -110_000 and scores.max() < -90_000


@pytest.mark.parametrize("name", ["q_proj.weight", "v_proj.bias", "q_proj.bias", "o_proj.bias", "k_proj.weight"])
def test_a_gradient_cut_at_one_parameter_is_seen(name):
    right = find("6.3").right

    def cut(query, memory, params, num_heads, mask):
        params = {key: value.detach() if key == name else value for key, value in params.items()}
        return right(query, memory, params, num_heads, mask)

    verdict = run(find("6.3"), cut)
    assert not verdict.passed and f"no gradient reaches `params['{name}']`" in verdict.looks_like


def test_a_size_that_is_a_float_is_named():
    def split(x, num_heads):
        return x.view(*x.shape[:2], num_heads, x.shape[2] / num_heads).transpose(1, 2)

    assert run(find("6.1"), split).mistake == "a size with a fraction"


def test_heads_of_different_sizes_are_pytorchs_one_by_one():
    for case, (output, weights) in results("6.5"):
        parts = zip(*(case[name].split(case["sizes"], -1) for name in "qkv"), strict=True)
        expected = [torch.nn.functional.scaled_dot_product_attention(*part) for part in parts]
        torch.testing.assert_close(output, torch.cat(expected, -1))
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


def test_roles_of_the_statements_example():
    case, roles = results("6.7")[0]
    assert case["alone"].tolist() == [0, 0, 2, 0] and case["pairs"][0].tolist() == [0, 1, 2, 0]
    assert roles == ["doubled", "doubled", "needed", "idle"]


MEANS = {(2, 1): 0.46, (4, 1): 0.674, (4, 2): 0.443}
ROWS = {
    (m, h): [MEANS.get((m, h), 0.0001 * (m + h)) + 0.001 * seed for seed in range(5)]
    for m in (2, 4)
    for h in (1, 2, 4, 8)
}
MEASURED = ROWS | {"enough for 2 marks": 2, "enough for 4 marks": 4, "law": "1 - heads / marks"}


def test_an_experiment_with_numbers_that_can_be_is_right():
    assert decider(find("6.8"), [])(observe_value(MEASURED)).passed


@pytest.mark.parametrize(
    ("change", "part"),
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
def test_the_experiment_is_decided_by_its_own_numbers(change, part):
    numbers = {key: value for key, value in (MEASURED | change).items() if value is not None}
    verdict = decider(find("6.8"), [])(observe_value(numbers))
    assert not verdict.passed and part in verdict.text()
