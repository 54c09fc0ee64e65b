"""For tests that run kernels in the sandbox: Linux only, and skipped where bubblewrap is missing (``needs.py``)."""

import handed_in
import pytest

from course_grader.grade import GradingSettings
from course_grader.limits import Limits
from course_grader.released_notebook import load_releases

linux = pytest.mark.needs("sandbox")
EXERCISES = handed_in.ROOT / "exercises"


def make_settings(**changes):
    """Settings for lessons 01 and 02, with short limits."""
    releases = load_releases(EXERCISES, "01") | load_releases(EXERCISES, "02")
    arguments = {"seed": "a seed for tests", "limits": Limits(cell_s=10, notebook_s=60)} | changes
    return GradingSettings(releases, **arguments)


def outcomes(result):
    """Exercise -> outcome."""
    return {exercise["number"]: exercise["outcome"] for exercise in result["exercises"]}
