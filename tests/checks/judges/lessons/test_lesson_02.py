"""The references of lesson 02's checks against PyTorch and the library (held to PyTorch in its own tests)."""

import pytest
import torch

from course_utils import attention
from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find
from course_utils.checks.probes.probe import visible


def _edge(x_query, x_key, y_key, bandwidth):
    rows = []
    for q in x_query:
        kernel = torch.stack([torch.relu(1 - ((q - k) / bandwidth) ** 2) for k in x_key])
        nearest = torch.tensor([float((q - k).abs() == (q - x_key).abs().min()) for k in x_key], dtype=kernel.dtype)
        kernel = kernel if kernel.any() else nearest
        rows.append(kernel / kernel.sum())
    return torch.stack(rows) @ y_key, torch.stack(rows)


def _left_out(x, y, bandwidths):
    errors = []
    for h in bandwidths:
        found = [attention.nadaraya_watson(x[j : j + 1], _without(x, j), _without(y, j), h)[0] for j in range(len(x))]
        errors.append(((torch.cat(found) - y) ** 2).mean())
    return torch.stack(errors), bandwidths[torch.stack(errors).argmin()]


def _without(values, j):
    return torch.cat([values[:j], values[j + 1 :]])


def _additive(query, key, value, W_q, W_k, w_v):
    layer = attention.AdditiveAttention(query.shape[-1], key.shape[-1], len(w_v)).to(query.dtype)
    with torch.no_grad():
        for linear, weight in zip((layer.q_proj, layer.k_proj, layer.v_proj), (W_q, W_k, w_v[None]), strict=True):
            linear.weight.copy_(weight)
        return layer(query, key, value)


TRUTH = {
    "2.1": lambda scores: torch.softmax(scores, dim=-1),
    "2.2": _edge,
    "2.3": _left_out,
    "2.5": _additive,
    "2.6": lambda query, key, value: attention.scaled_dot_product_attention(query, key, value, scale=1.0),
}


@pytest.mark.parametrize("number", TRUTH)
def test_reference_is_the_truth_from_outside(number):
    exercise = find(number)
    for case in exercise.cases(SEED):
        expected = TRUTH[number](*visible(case).values())
        torch.testing.assert_close(exercise.reference(*visible(case).values()), expected)


def test_as_many_keys_count_as_were_asked_for():
    exercise = find("2.4")
    for case in exercise.cases(SEED):
        found = exercise.reference(case["scores"], case["count"])
        counted = torch.special.entr(torch.softmax(case["scores"] / found[:, None], -1)).sum(-1).exp()
        at_an_end = (found < 0.01001) & (counted > case["count"]) | (found > 99.99) & (counted < case["count"])
        assert (at_an_end | ((counted - case["count"]).abs() < 1e-3)).all()
        assert not at_an_end.any() or case.labels
