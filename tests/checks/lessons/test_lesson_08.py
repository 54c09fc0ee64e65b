"""Lesson 08: its worked solutions against the library (held to the papers in test_positions), a property, or by hand."""

import pytest
import torch

from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.find import find
from course_checks.engine import SEED
from course_checks.running import observe_answer
from course_utils import positions


def right(number):
    """(worked solution, cases) of an exercise."""
    exercise = find(number)
    return exercise.right, exercise.cases(SEED)


def test_table_and_shift_are_the_librarys():
    table, cases = right("8.1")
    for case in cases:
        if case["d_model"] % 2:
            with pytest.raises(ValueError, match="even"):
                table(**case)
        else:
            expected = positions.SinusoidalPositions(case["d_model"], case["num_positions"]).table
            torch.testing.assert_close(table(**case), expected, atol=3e-4, rtol=1e-5)
    shift, cases = right("8.2")
    for case in cases:
        expected = positions.shift_matrix(case["delta"], case["d_model"])
        torch.testing.assert_close(shift(**case), expected, atol=2e-5, rtol=1e-5)


def test_rope_is_the_librarys_and_rotary_scores_are_its_products():
    rope, cases = right("8.3")
    for case in cases:
        x, places, base = case.values()
        angles = positions.rotary_angles(places, x.shape[-1], base=base)
        expected = positions.apply_rope(x, angles.cos(), angles.sin())
        torch.testing.assert_close(rope(x, places, base), expected, atol=1e-5, rtol=1e-5)
    scores, cases = right("8.7")
    for case in cases:
        query, key = case.values()
        rotary = positions.RotaryPositions(query.shape[-1], max_len=16)
        expected = rotary(query, key.shape[2] - query.shape[2]) @ rotary(key).mT / query.shape[-1] ** 0.5
        torch.testing.assert_close(scores(query, key), expected, atol=1e-5, rtol=1e-5)


def test_biases_are_the_librarys():
    bias, _ = right("8.6")
    for heads, L_q, L_k in ((4, 5, 7), (6, 3, 3)):
        expected = positions.alibi_bias(heads, L_q, L_k)[0]
        torch.testing.assert_close(bias(positions.alibi_slopes(heads), L_q, L_k), expected)
    assert bias(torch.tensor([0.5]), 2, 3).tolist() == [[[-0.5, 0.0, -0.5], [-1.0, -0.5, 0.0]]]


def test_a_converted_projection_gives_the_same_scores_in_code_that_pairs_neighbors():
    convert, _ = right("8.5")
    rng = torch.Generator().manual_seed(0)
    heads, d_head, places = 3, 6, torch.arange(5)
    x, W_q, W_k = (torch.randn(rows, 7, generator=rng) for rows in (5, heads * d_head, heads * d_head))
    angles = positions.rotary_angles(places, d_head)
    turns = torch.polar(torch.ones(5, d_head // 2), angles.float())

    def split(W):
        return (x @ W.T).view(5, heads, d_head).transpose(0, 1)  # (H, L, d_head)

    def neighbors(t):
        return torch.view_as_real(torch.view_as_complex(t.unflatten(-1, (-1, 2)).contiguous()) * turns).flatten(-2)

    q, k = (positions.apply_rope(split(W), angles.cos(), angles.sin()) for W in (W_q, W_k))
    q_new, k_new = (neighbors(split(convert(W, heads))) for W in (W_q, W_k))
    torch.testing.assert_close(q_new @ k_new.mT, q @ k.mT, rtol=1e-4, atol=1e-4)
    assert convert(torch.arange(6.0), 1).tolist() == [0, 3, 1, 4, 2, 5]


@pytest.mark.parametrize("seed", [SEED, 1, 2, 3])
def test_each_score_is_relative_or_not_as_its_case_says(seed):
    """Diagonal by diagonal: spread below 1e-6 where it should be relative, above 1e-3 elsewhere, nothing in between."""
    exercise = find("8.4")
    for case in exercise.cases(seed):
        table, length = case.values()
        lines = [table.diagonal(k) for k in range(1 - length, length)]
        spread = max((line.max() - line.min()).item() for line in lines)
        relative = case.deciding["relative"]
        assert spread < 1e-6 if relative else spread > 1e-3, case.labels
        assert exercise.call.on(exercise.right, case) is relative


def test_no_position_outside_the_sequence_can_be_asked_for():
    exercise = find("8.4")
    case = exercise.cases(SEED)[0]
    for m, n in ((-1, 0), (0, 3)):
        with pytest.raises(ValueError, match="0 to 2"):
            exercise.call.on(lambda score, length, m=m, n=n: score(m, n), case)


def test_a_loop_without_an_end_is_stopped():
    def endless(score, length):
        while score(1, 0) == score(1, 0):
            pass

    exercise = find("8.4")
    cases = cases_of(exercise, SEED)[:1]
    verdict = decider(exercise, cases)(observe_answer(endless, exercise.call, cases))
    assert not verdict.passed
    assert "score was called more than" in " ".join(verdict.text().split())
