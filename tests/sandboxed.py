"""For tests that run kernels in the sandbox: Linux only, and skipped where bubblewrap is missing (``needs.py``)."""

import handed_in
import pytest

from course_grader.grade import Terms, masters_as_bytes
from course_grader.limits import Limits
from course_grader.master import load_masters

linux = pytest.mark.needs("sandbox")
EXERCISES = handed_in.ROOT / "exercises"


def terms(**changes):
    """Terms for lessons 01 and 02, with short limits."""
    masters = load_masters(EXERCISES, "01") | load_masters(EXERCISES, "02")
    given = {"seed": "a seed for tests", "limits": Limits(cell_s=10, notebook_s=60)} | changes
    return Terms(masters_as_bytes(EXERCISES, masters), **given)


def outcomes(result):
    """Exercise -> outcome."""
    return {one["number"]: one["outcome"] for one in result["exercises"]}
