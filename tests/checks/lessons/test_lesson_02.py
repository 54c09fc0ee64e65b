"""The worked solutions of lesson 02 against PyTorch, the library, and what was asked for."""

import pytest
import torch

from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.find import find
from course_checks.engine import SEED
from course_checks.running import observe_answer
from course_utils import attention


def edge_regression(x_query, x_key, y_key, bandwidth):
    rows = []
    for q in x_query:
        kernel = torch.stack([torch.relu(1 - ((q - k) / bandwidth) ** 2) for k in x_key])
        distance = (q - x_key).abs()
        kernel = kernel if kernel.any() else (distance == distance.min()).to(kernel.dtype)
        rows.append(kernel / kernel.sum())
    return torch.stack(rows) @ y_key, torch.stack(rows)


def leave_one_out(x, y, bandwidths):
    def without(values, j):
        return torch.cat([values[:j], values[j + 1 :]])

    errors = []
    for h in bandwidths:
        predicted = [attention.nadaraya_watson(x[j : j + 1], without(x, j), without(y, j), h)[0] for j in range(len(x))]
        errors.append(((torch.cat(predicted) - y) ** 2).mean())
    return torch.stack(errors), bandwidths[torch.stack(errors).argmin()]


def additive_attention(query, key, value, W_q, W_k, w_v):
    layer = attention.AdditiveAttention(query.shape[-1], key.shape[-1], len(w_v)).to(query.dtype)
    layer.load_state_dict({"q_proj.weight": W_q, "k_proj.weight": W_k, "v_proj.weight": w_v[None]})
    return layer(query, key, value)


TRUTH = {
    "2.1": lambda scores: torch.softmax(scores, dim=-1),
    "2.2": edge_regression,
    "2.3": leave_one_out,
    "2.5": additive_attention,
    "2.6": lambda query, key, value: attention.scaled_dot_product_attention(query, key, value, scale=1.0),
}


@pytest.mark.parametrize("number", TRUTH)
def test_the_solution_is_the_truth_from_outside(number):
    exercise = find(number)
    for case in cases_of(exercise, SEED):
        torch.testing.assert_close(exercise.right(**case), TRUTH[number](**case))


@pytest.mark.parametrize("seed", [SEED, 1, 2])
def test_as_many_keys_count_as_were_asked_for(seed):
    exercise = find("2.4")
    for case in cases_of(exercise, seed):
        T = exercise.right(**case)
        keys = torch.special.entr(torch.softmax(case["scores"] / T[:, None], -1)).sum(-1).exp()
        at_an_end = (T < 0.01001) & (keys > case["count"]) | (T > 99.99) & (keys < case["count"])
        assert (at_an_end | ((keys - case["count"]).abs() < 1e-3)).all()
        assert at_an_end.any() == ("no temperature fits" in case.labels)


def test_a_search_that_never_ends_is_stopped():
    exercise = find("2.4")
    cases = cases_of(exercise, SEED)[:1]

    def forever(scores, count):
        while True:
            scores = scores + 1

    verdict = decider(exercise, cases)(observe_answer(forever, exercise.call, cases))
    assert not verdict.passed
    assert "more than 20,000 operations" in verdict.difference.what


def test_a_small_number_in_the_logarithm_shows_where_nearly_all_keys_count():
    exercise = find("2.4")
    text = exercise.solution.text.replace("torch.special.entr(weights)", "(-weights * (weights + 1e-6).log())")
    cases = cases_of(exercise, SEED)
    verdict = decider(exercise, cases)(
        observe_answer(exercise.solution.answer(text), exercise.call, cases, guarded=False)
    )
    assert not verdict.passed
    assert cases[verdict.case].labels == ("nearly all keys count",)
