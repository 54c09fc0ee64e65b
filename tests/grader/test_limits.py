"""Limits must limit."""

import pytest

from course_grader.limits import Limits


@pytest.mark.parametrize("name", ["cell_s", "memory_mb", "processes"])
def test_a_limit_of_nothing_is_refused(name):
    with pytest.raises(ValueError, match=rf"{name} \(0\) must be more than 0"):
        Limits(**{name: 0})
    assert Limits(restarts=0).restarts == 0
