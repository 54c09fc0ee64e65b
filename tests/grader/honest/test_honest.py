"""Honest notebooks of odd form earn full marks, without a flag and without a line that misleads."""

import re

import pytest
from honest import changed_cells, file_formats  # noqa: F401 - they register their notebooks
from honest.honest_notebook import NOTEBOOKS
from sandboxed import EXERCISES, linux

from course_grader.grade import GradingSettings, grade_one
from course_grader.limits import Limits
from course_grader.released_notebook import load_releases

MISLEADING = re.compile("missing|empty|not be read", re.IGNORECASE)


@pytest.fixture(scope="module")
def settings():
    """As for a whole course: a file belongs to the lesson that its content says."""
    patient = Limits(cell_s=900, notebook_s=1800)  # a slow machine is no reason to lose points here
    return GradingSettings(load_releases(EXERCISES), seed="a class", limits=patient)


def test_every_lesson_is_among_them():
    assert {notebook.lesson for notebook in NOTEBOOKS.values()} == {
        path.name[:2] for path in EXERCISES.glob("[0-9]*.ipynb")
    }
    assert len(NOTEBOOKS) >= 60


@linux
@pytest.mark.parametrize(
    "name",
    [name if notebook.quick else pytest.param(name, marks=pytest.mark.slow) for name, notebook in NOTEBOOKS.items()],
)
def test_full_marks(name, settings):
    notebook = NOTEBOOKS[name]
    result = grade_one(notebook.file(), notebook.label, settings)
    lost = {e["number"]: (e["outcome"], e["message"]) for e in result["exercises"] if e["outcome"] != "right"}
    assert (result["problem"], result["lesson"], result["events"]) == ("", notebook.lesson, [])
    assert lost.keys() == notebook.lacks, lost
    assert (result["noticed"], result["review"]) == ([], False)
    assert notebook.restored or result["restored"] == []
    assert notebook.lacks or not MISLEADING.search("\n".join(result["restored"])), result["restored"]
