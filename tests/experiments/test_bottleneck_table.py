"""What lesson 03 says of four kinds of context, held against the table that comes with the course."""

import pytest

from course_utils.results import read_rows
from experiments.bottleneck import WIDTHS

LONG = "12"  # letters of the shortest word in the last group


def wrong(context: str, d_hidden: int) -> float:
    """The share of wrong sounds in long words, over all seeds."""
    rows = [
        row
        for row in read_rows("bottleneck")
        if (row["context"], row["d_hidden"], row["shortest"]) == (context, str(d_hidden), LONG)
    ]
    return sum(int(row["edits"]) for row in rows) / sum(int(row["sounds"]) for row in rows)


@pytest.mark.parametrize(("attended", "plain"), WIDTHS.items())
def test_a_pointer_that_never_asks_closes_most_of_the_gap_and_the_mean_none(attended, plain):
    summary, attention = wrong("summary", plain), wrong("attention", attended)
    assert summary - wrong("pointer", plain) > 0.8 * (summary - attention) > 0.1
    assert wrong("mean", plain) > summary
