"""The references of lesson 08's checks against truth from outside: the library (held to it in test_positions), or by hand."""

import pytest
import torch

from course_utils import positions
from course_utils.checks import lesson_08 as lesson
from course_utils.checks.engine import SEED


def cases(entry):
    return entry.inputs(SEED)


def test_table_and_shift_are_the_librarys():
    for case in cases(lesson.TABLE):
        if case["d_model"] % 2:
            with pytest.raises(ValueError, match="even"):
                lesson.TABLE.reference(**case)
            assert lesson.TABLE.call(lesson.TABLE.reference, case) == "ValueError, raised"
        else:
            expected = positions.SinusoidalPositions(case["d_model"], case["num_positions"]).table
            torch.testing.assert_close(lesson.TABLE.reference(**case), expected)
    for case in cases(lesson.SHIFT):
        expected = positions.shift_matrix(case["delta"], case["d_model"])
        torch.testing.assert_close(lesson.SHIFT.call(lesson.SHIFT.reference, case), expected)


def test_rope_is_the_librarys_and_rotary_scores_are_its_products():
    for case in cases(lesson.ROPE):
        x, places, base = case.values()
        angles = positions.rotary_angles(places, x.shape[-1], base=base)
        torch.testing.assert_close(
            lesson.ROPE.reference(x, places, base), positions.apply_rope(x, angles.cos(), angles.sin())
        )
    for case in cases(lesson.BUG):
        query, key = case.values()
        rotary = positions.RotaryPositions(query.shape[-1], max_len=16)
        expected = rotary(query, key.shape[2] - query.shape[2]) @ rotary(key).mT / query.shape[-1] ** 0.5
        torch.testing.assert_close(lesson.BUG.reference(query, key), expected, atol=1e-5, rtol=1e-5)


def test_slopes_and_biases_are_the_librarys():
    for case in cases(lesson.SLOPES):
        torch.testing.assert_close(lesson.SLOPES.reference(**case), positions.alibi_slopes(case["num_heads"]))
    for heads, L_q, L_k in ((4, 5, 7), (6, 3, 3)):
        expected = positions.alibi_bias(heads, L_q, L_k)[0]
        torch.testing.assert_close(lesson.BIAS.reference(positions.alibi_slopes(heads), L_q, L_k), expected)
    assert lesson.BIAS.reference(torch.tensor([0.5]), 2, 3).tolist() == [[[-0.5, 0.0, -0.5], [-1.0, -0.5, 0.0]]]


@pytest.mark.parametrize("seed", [SEED, 1, 2, 3])
def test_each_score_is_relative_or_not_as_its_name_says(seed):
    """Diagonal by diagonal: spread near 1e-6 where the name promises it, above 1e-3 elsewhere, and nothing in between."""
    for case in lesson.RELATIVE_TEST.inputs(seed):
        name, length, query, key = case.values()
        table = torch.tensor(lesson._scores_by_name(name, length, query, key), dtype=torch.float64)
        lines = [table.diagonal(k) for k in range(1 - length, length)]
        spread = max((line.max() - line.min()).item() for line in lines)
        assert spread < 1e-6 if lesson.RELATIVE[name] else spread > 1e-3, name
        assert lesson.RELATIVE_TEST.call(lesson.RELATIVE_TEST.reference, case) is lesson.RELATIVE[name]


def test_no_position_outside_the_sequence_can_be_asked_for():
    case = lesson.RELATIVE_TEST.inputs(SEED)[0]
    for m, n in ((-1, 0), (0, 3)):
        with pytest.raises(ValueError, match="0 to 2"):
            lesson.RELATIVE_TEST.call(lambda score, length, m=m, n=n: score(m, n), case)
