"""The references of lesson 08's checks against truth from outside: the library (held to it in test_positions), or by hand."""

import pytest
import torch

from course_utils import positions
from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find
from course_utils.checks.judges.lessons.lesson_08 import distance_only


def right(number):
    """(reference, cases) of an exercise."""
    entry = find(number)
    return entry.reference, entry.cases(SEED)


def test_table_and_shift_are_the_librarys():
    table, cases = right("8.1")
    for case in cases:
        if case["d_model"] % 2:
            with pytest.raises(ValueError, match="even"):
                table(**case)
        else:
            expected = positions.SinusoidalPositions(case["d_model"], case["num_positions"]).table
            torch.testing.assert_close(table(**case), expected)
    shift, cases = right("8.2")
    for case in cases:
        torch.testing.assert_close(shift(**case), positions.shift_matrix(case["delta"], case["d_model"]))


def test_rope_is_the_librarys_and_rotary_scores_are_its_products():
    rope, cases = right("8.3")
    for case in cases:
        x, places, base = case.values()
        angles = positions.rotary_angles(places, x.shape[-1], base=base)
        torch.testing.assert_close(rope(x, places, base), positions.apply_rope(x, angles.cos(), angles.sin()))
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
    torch.manual_seed(0)
    heads, d_head, places = 3, 6, torch.arange(5)
    x, W_q, W_k = torch.randn(5, 7), torch.randn(heads * d_head, 7), torch.randn(heads * d_head, 7)
    turns = torch.polar(torch.ones(5, d_head // 2), positions.rotary_angles(places, d_head).float())
    angles = positions.rotary_angles(places, d_head)

    def split(W):
        return (x @ W.T).view(5, heads, d_head).transpose(0, 1)  # (H, L, d_head)

    def neighbors(t):
        return torch.view_as_real(torch.view_as_complex(t.unflatten(-1, (-1, 2)).contiguous()) * turns).flatten(-2)

    q, k = (positions.apply_rope(split(W), angles.cos(), angles.sin()) for W in (W_q, W_k))
    q_new, k_new = (neighbors(split(convert(W, heads))) for W in (W_q, W_k))
    torch.testing.assert_close(q_new @ k_new.mT, q @ k.mT, rtol=1e-4, atol=1e-4)
    assert convert(torch.arange(6.0), 1).tolist() == [0, 3, 1, 4, 2, 5]


@pytest.mark.parametrize("seed", [SEED, 1, 2, 3])
def test_each_score_is_relative_or_not_as_its_label_says(seed):
    """Diagonal by diagonal: spread near 1e-6 where it should be relative, above 1e-3 elsewhere, and nothing in between."""
    entry, rng = find("8.4"), torch.Generator().manual_seed(seed)
    kinds = [*distance_only._exact(rng), *distance_only._rounded(rng)]
    for (labels, _, relative), case in zip(kinds, entry.cases(seed), strict=True):
        table, length = case.values()
        lines = [table.diagonal(k) for k in range(1 - length, length)]
        spread = max((line.max() - line.min()).item() for line in lines)
        assert spread < 1e-6 if relative else spread > 1e-3, labels
        assert entry.probe.call(entry.reference, case) is relative


def test_no_position_outside_the_sequence_can_be_asked_for():
    entry = find("8.4")
    case = entry.cases(SEED)[0]
    for m, n in ((-1, 0), (0, 3)):
        with pytest.raises(ValueError, match="0 to 2"):
            entry.probe.call(lambda score, length, m=m, n=n: score(m, n), case)
