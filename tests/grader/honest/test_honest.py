"""Honest notebooks of odd form earn full marks, without a flag and without a line that misleads."""

import re

import pytest
from honest import answers, beside, files, places  # noqa: F401 - they register their forms
from honest.form import FORMS
from sandboxed import EXERCISES, linux

from course_grader.grade import GradingSettings, grade_one, releases_as_bytes
from course_grader.limits import Limits
from course_grader.released_notebook import load_releases

MISLEADING = re.compile("missing|empty|not be read", re.IGNORECASE)


@pytest.fixture(scope="module")
def settings():
    """As for a whole course: a file belongs to the lesson that its content says."""
    given = releases_as_bytes(EXERCISES, load_releases(EXERCISES))
    return GradingSettings(given, seed="a class", limits=Limits(cell_s=20, notebook_s=120))


def test_every_lesson_is_among_them():
    assert {one.lesson for one in FORMS.values()} == {path.name[:2] for path in EXERCISES.glob("[0-9]*.ipynb")}
    assert len(FORMS) >= 60


@linux
@pytest.mark.parametrize(
    "name", [name if one.quick else pytest.param(name, marks=pytest.mark.slow) for name, one in FORMS.items()]
)
def test_full_marks(name, settings):
    one = FORMS[name]
    result = grade_one(one.file(), one.label, settings)
    lost = {e["number"]: (e["outcome"], e["message"]) for e in result["exercises"] if e["outcome"] != "right"}
    assert (result["problem"], result["lesson"], result["events"]) == ("", one.lesson, [])
    assert lost.keys() == one.lacks, lost
    assert (result["noticed"], result["review"]) == ([], False)
    assert one.restored or result["restored"] == []
    assert one.lacks or not MISLEADING.search("\n".join(result["restored"])), result["restored"]
