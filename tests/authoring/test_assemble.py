"""Assembled notebooks: ids, metadata, what nbgrader reads, bytes that repeat."""

import re

import nbformat
import pytest

from course_authoring.assemble import INSTALL_ID, assemble
from course_authoring.build import text_of
from course_authoring.errors import AuthoringError
from course_authoring.links import Outline
from course_authoring.source import read_source

ADDRESS = "https://github.com/someone/course"


def built(project, kind="exercises", address=ADDRESS):
    return assemble(read_source(project, project / f"sources/{kind}/05_masking.py"), Outline.read(project, address))


def test_paths(project):
    assert list(built(project, "lessons")) == ["notebooks/05_masking.ipynb"]
    assert list(built(project)) == ["solutions/05_masking.ipynb", "exercises/05_masking.ipynb"]


def test_notebooks_are_valid_and_unique_in_their_ids(project):
    for notebook in (*built(project).values(), *built(project, "lessons").values()):
        nbformat.validate(notebook)
        ids = [cell.id for cell in notebook.cells]
        assert len(ids) == len(set(ids)) and all(re.fullmatch(r"[a-z0-9-]{1,64}", name) for name in ids)
        assert notebook.metadata.kernelspec.name == "python3"
        assert notebook.metadata.course.built_from.startswith("sources/")


def test_building_twice_gives_the_same_bytes(project):
    assert [text_of(n) for n in built(project).values()] == [text_of(n) for n in built(project).values()]


def test_solution_and_exercise_share_their_ids(project, edit):
    solution, exercise = ({cell.id: cell.source for cell in n.cells} for n in built(project).values())
    assert set(solution) - set(exercise) == {"5-1-square-3", "5-2-choose-2"}  # the cells tagged solution
    assert {"answer-5-1", "check-5-1", "quiz-5-2", "check-5-2"} <= set(exercise)
    before = set(exercise)
    edit("# Square it.", "# Square it.\n\n# %% [markdown]\n# More.")
    after = [cell.id for cell in built(project)["exercises/05_masking.ipynb"].cells]
    assert {"answer-5-1", "check-5-1", "quiz-5-2", "5-2-choose-1"} <= set(after) & before


def test_nbgrader_metadata(project):
    cells = {cell.id: cell for cell in built(project)["exercises/05_masking.ipynb"].cells}
    common = {"schema_version": 3, "task": False}
    assert cells["answer-5-1"].metadata.nbgrader == {
        **common, "grade_id": "answer-5-1", "grade": False, "solution": True, "locked": False,
    }  # fmt: skip
    assert cells["check-5-1"].metadata.nbgrader == {
        **common, "grade_id": "check-5-1", "grade": True, "solution": False, "locked": True, "points": 3,
    }  # fmt: skip
    assert "nbgrader" not in cells["5-1-square-1"].metadata


def test_points_stand_in_the_notebook(project):
    course = built(project)["exercises/05_masking.ipynb"].metadata.course
    assert course.points == {"5.1": 3, "5.2": 1} and course.total_points == 4


def test_the_address_stands_in_badges_and_cells(project):
    notebook = built(project, "lessons", "https://github.com/fork/er")["notebooks/05_masking.ipynb"]
    assert "colab.research.google.com/github/fork/er/blob/main/notebooks/05_masking.ipynb" in notebook.cells[0].source
    assert '"git+https://github.com/fork/er"' in notebook.cells[1].source
    assert notebook.cells[1].id == INSTALL_ID
    released = built(project)["solutions/05_masking.ipynb"]
    assert "{{" not in "".join(cell.source for cell in released.cells)


def test_unknown_placeholders_are_named(project, edit):
    edit("{{lesson_link}}", "{{lesson_lnk}}")
    with pytest.raises(AuthoringError, match="cell 1: nothing to put for {{lesson_lnk}}; here there is colab_link, ex"):
        built(project)
    edit("{{lesson_lnk}}", "the lesson")
    edit("# stands in", "# {{colab_link}}\n# stands in")
    with pytest.raises(AuthoringError, match="cell 2: '# {{colab_link}}' in code: only Markdown has placeholders"):
        built(project)


def test_the_first_code_cell_installs_in_colab_and_is_collapsed(project):
    for notebook in (*built(project).values(), *built(project, "lessons").values()):
        first, second = [cell for cell in notebook.cells if cell.cell_type == "code"][:2]
        assert first.id == INSTALL_ID and "google.colab" in first.source
        assert first.metadata == {"jupyter": {"source_hidden": True}, "cellView": "form"}
        assert first.source.startswith("#@title ")  # what Colab shows in the place of the code
        assert second.metadata.tags == ["setup"] and "jupyter" not in second.metadata


def test_no_trace_of_the_answer_in_the_exercise(project):
    text = text_of(built(project)["exercises/05_masking.ipynb"])
    for forbidden in ("x * x", "BEGIN SOLUTION", "Why it works", "one is too few", "and a half", 'quiz_5_2 = \\"b'):
        assert forbidden not in text
