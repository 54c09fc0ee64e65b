"""Assembled notebooks: ids, metadata, what nbgrader reads, links, bytes that repeat."""

import ast
import re

import nbformat
import pytest

from course_authoring.assemble import INSTALL_ID, assemble
from course_authoring.build import targets, text_of
from course_authoring.errors import AuthoringError
from course_authoring.links import Outline, colab_link
from course_authoring.source import read_source

ADDRESS = "https://github.com/someone/course"


def built(project, kind="exercises", address=ADDRESS):
    return assemble(read_source(project, project / f"sources/{kind}/05_masking.py"), Outline.read(project, address))


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
    solved = "squaring is repeated multiplication.\n"
    edit(solved, f"{solved}\n# %% [markdown]\n# After the solution.\n")
    solution, exercise = ({cell.id: cell.source for cell in n.cells} for n in built(project).values())
    assert set(solution) - set(exercise) == {"5-1-square-3", "5-2-choose-2"}  # the cells tagged solution
    assert {"answer-5-1", "check-5-1", "quiz-5-2", "check-5-2"} <= set(exercise)
    assert all(solution[name] == text for name, text in exercise.items() if "After" in text)
    before = set(exercise)
    edit("# Square it.", "# Square it.\n\n# %% [markdown]\n# More.")
    after = [cell.id for cell in built(project)["exercises/05_masking.ipynb"].cells]
    assert {"answer-5-1", "check-5-1", "quiz-5-2", "5-2-choose-1"} <= set(after) & before


def test_nbgrader_metadata(project):
    cells = {cell.id: cell for cell in built(project)["exercises/05_masking.ipynb"].cells}
    common = {"schema_version": 3, "task": False}
    answer = {"grade_id": "answer-5-1", "grade": False, "solution": True, "locked": False}
    check = {"grade_id": "check-5-1", "grade": True, "solution": False, "locked": True, "points": 3}
    assert cells["answer-5-1"].metadata.nbgrader == common | answer
    assert cells["check-5-1"].metadata.nbgrader == common | check
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


def test_without_an_address_nothing_leads_to_colab(project):
    for notebook in (*built(project, address=None).values(), *built(project, "lessons", None).values()):
        assert "olab" not in text_of(notebook) and "github" not in text_of(notebook)
        assert not any(cell.id == INSTALL_ID for cell in notebook.cells)
    (lesson,) = built(project, "lessons", None).values()
    assert "\n\nshort path about 66 minutes" in lesson.cells[0].source
    assert "](https://colab" in built(project, "lessons")["notebooks/05_masking.ipynb"].cells[0].source


def test_what_leads_to_the_answer_of_a_prediction_is_folded(project, edit):
    asks = '# %% [markdown]\n# ## 5.1 An idea\n\n# %%\nwidgets.predict("5.A", "?", between=(0, 9))\n\n# %%\nhalf = 8\n'
    tells = '# %%\nwidgets.came_out(\n    "5.A", half\n)\n\n# %%\nprint(math.sqrt(16))'
    edit("# %% [markdown]\n# ## 5.1 An idea\n", asks, "sources/lessons/05_masking.py")
    edit("# %%\nprint(math.sqrt(16))", tells, "sources/lessons/05_masking.py")
    (lesson,) = built(project, "lessons").values()
    folded = [cell.source for cell in lesson.cells if cell.metadata.get("collapsed")]
    assert [text.split("(")[0] for text in folded] == ["half = 8", "widgets.came_out"]
    assert all(
        cell.metadata.get("jupyter", {}).get("outputs_hidden", False) == cell.metadata.get("collapsed", False)
        for cell in lesson.cells
    )


def test_no_trace_of_the_answer_in_the_exercise(project):
    text = text_of(built(project)["exercises/05_masking.ipynb"])
    for forbidden in ("x * x", "BEGIN SOLUTION", "Why it works", "one is too few", "and a half", 'quiz_5_2 = \\"b'):
        assert forbidden not in text


def test_a_quiz_keeps_its_empty_answer_and_other_answers_get_a_stub(project, edit):
    cells = {cell.id: cell.source for cell in built(project)["exercises/05_masking.ipynb"].cells}
    assert cells["quiz-5-2"] == 'quiz_5_2 = ""  # your letter'
    assert cells["answer-5-1"] == "def square(x):\n    # YOUR CODE HERE\n    raise NotImplementedError"
    end = "    # END SOLUTION\n\n\n"
    edit(end, f"{end}def cube(x):\n    # BEGIN SOLUTION\n    return x**3\n    # END SOLUTION\n")
    cells = {cell.id: cell.source for cell in built(project)["exercises/05_masking.ipynb"].cells}
    assert cells["answer-5-1"].count("raise NotImplementedError") == 2


def test_where_no_function_holds_the_answer_the_cell_runs(project, edit):
    edit("def square(x):\n    # BEGIN SOLUTION\n    result = x * x\n", "square = {}\n# BEGIN SOLUTION\nresult = 1\n")
    edit("    return result\n    # END SOLUTION\n", "square[1] = result\n# END SOLUTION\n")
    cells = {cell.id: cell.source for cell in built(project)["exercises/05_masking.ipynb"].cells}
    assert cells["answer-5-1"] == "square = {}\n# YOUR CODE HERE"


def links(notebook):
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return {link for text in texts for link in re.findall(r"\]\(([^)\s]+)\)", text)}


def test_the_last_lesson_and_one_without_exercises_link_what_there_is(project):
    (lesson,) = built(project, "lessons").values()
    assert "({{" not in lesson.cells[0].source and "after them you have finished the course" in lesson.cells[0].source
    assert "../exercises/05_masking.ipynb" in links(lesson)
    (project / "sources/exercises/05_masking.py").unlink()
    with pytest.raises(AuthoringError, match="nothing to put for {{next_steps}}"):
        built(project, "lessons")


@pytest.fixture(scope="module")
def course(root):
    """Every notebook of the course, as the sources say now."""
    notebooks, errors = targets(root, ADDRESS)
    assert not errors
    return {target.path: target.notebook for target in notebooks}


def test_every_link_inside_the_course_leads_to_a_file(root, course):
    ours = colab_link(ADDRESS, "")
    for path, notebook in course.items():
        for link in links(notebook):
            if link.startswith(ours):
                assert link.removeprefix(ours) in course, (path, link)
            elif not re.match(r"https?://|#|attachment:", link):
                there = (root / path).parent.joinpath(link.partition("#")[0]).resolve()
                assert there.exists() or there.relative_to(root).as_posix() in course, (path, link)


def test_every_lesson_leads_on_here_and_in_colab(root, course):
    ours = colab_link(ADDRESS, "")
    lessons = sorted(path for path in course if path.startswith(("notebooks/0", "notebooks/1")))
    for lesson, following in zip(lessons, [*lessons[1:], None], strict=True):
        exercises = lesson.replace("notebooks/", "exercises/")
        for goal in {exercises, following} - {None}:
            assert {f"../{goal}", ours + goal} <= links(course[lesson]), lesson
        for path in (exercises, lesson.replace("notebooks/", "solutions/")):
            for goal in {lesson, following} - {None}:
                assert {f"../{goal}", ours + goal} <= links(course[path]), path


def test_each_notebook_imports_sys_once_at_most(course):
    for path, notebook in course.items():
        trees = [ast.parse(cell.source) for cell in notebook.cells if cell.cell_type == "code"]
        imports = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Import)]
        assert sum(alias.name == "sys" for node in imports for alias in node.names) <= 1, path
