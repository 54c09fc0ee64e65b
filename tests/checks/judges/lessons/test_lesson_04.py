"""The references of lesson 04's checks against PyTorch."""

import statistics

import pytest
import torch
import torch.nn.functional as F

from course_utils.checks.judges.find import find
from course_utils.checks.judges.judge import cases_of
from course_utils.checks.probes.probe import visible

SEEDS = (20170612, 1, 2)


def right(number):
    return find(number).with_parts()


def assert_attention(found, query, key, value):
    output, weights = found
    everything = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], -1)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(weights, F.scaled_dot_product_attention(query, key, everything), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_spread_is_pythons(seed):
    for case in cases_of(find("4.1"), seed):
        dots = [q @ k for q, k in zip(case["query"].double(), case["key"].double(), strict=True)]
        spread = statistics.stdev(float(dot) for dot in dots)
        expected = (spread, spread / case["query"].shape[1] ** 0.5)
        assert [float(number) for number in right("4.1")(**case)] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_attention_is_pytorchs(seed):
    for case in map(visible, cases_of(find("4.2"), seed)):
        assert_attention(right("4.2")(**case), **case)
    for case in map(visible, cases_of(find("4.3"), seed)):
        x, *matrices = case.values()
        assert_attention(right("4.3")(**case), *(x @ W for W in matrices))
    for case in map(visible, cases_of(find("4.5"), seed)):
        x, memory, W_q, W_k, W_v = case.values()
        assert_attention(right("4.5")(**case), x @ W_q, memory @ W_k, memory @ W_v)


def test_the_statements_examples():
    found = right("4.2")(
        torch.tensor([[[2.0, 0, 0, 0]]]),
        torch.tensor([[[1.0986, 0, 0, 0], [0, 1.0, 0, 0]]]),
        torch.tensor([[[8.0], [4.0]]]),
    )
    assert found[0].item() == pytest.approx(7.0, abs=1e-3)
    assert found[1].tolist() == [[pytest.approx([0.75, 0.25], abs=1e-4)]]
    x, W_qkv = torch.tensor([[[1.0, 10.0]]]), torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0] * 6])
    assert [part.tolist() for part in right("4.4")(x, W_qkv)] == [[[[1.0, 2.0]]], [[[3.0, 4.0]]], [[[5.0, 6.0]]]]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_mended_layer_is_pytorchs_attention_of_three_projections(seed):
    exercise = find("4.6")
    for case in cases_of(exercise, seed):
        query, key, value = (
            F.linear(case["x"], case[f"{name}.weight"], case[f"{name}.bias"]) for name in ("q_proj", "k_proj", "v_proj")
        )
        found = exercise.probe.call(exercise.with_parts(), dict(case))
        torch.testing.assert_close(found, F.scaled_dot_product_attention(query, key, value), atol=1e-5, rtol=1e-4)
