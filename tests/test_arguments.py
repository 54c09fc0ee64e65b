"""What is asked of arguments in many places."""

import math

import pytest

from course_utils.arguments import require_probability, require_sizes


def test_what_is_fine_passes():
    require_sizes()
    require_sizes(d_model=1, num_heads=64)
    require_probability(dropout=0.0, smoothing=0.999)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: require_sizes(d_model=8, num_heads=0, d_ff=-3), r"num_heads \(0\) must be at least 1"),
        (lambda: require_probability(dropout=1.0), r"dropout \(1\.0\) must be at least 0 and below 1"),
        (lambda: require_probability(dropout_p=-0.1), r"dropout_p \(-0\.1\)"),
        (lambda: require_probability(dropout=math.nan), r"dropout \(nan\)"),
    ],
)
def test_the_first_that_is_not_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
