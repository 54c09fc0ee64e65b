"""Links between notebooks: every one leads to a notebook, and no lesson leaves its reader without the next step."""

import ast
import re

import pytest

from course_authoring.build import repository_address, targets
from course_authoring.links import Outline, colab_link, placeholders
from course_authoring.source import read_source

ADDRESS = "https://github.com/someone/course"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def test_colab_opens_the_main_branch():
    assert (
        colab_link(ADDRESS, "a/b.ipynb")
        == "https://colab.research.google.com/github/someone/course/blob/main/a/b.ipynb"
    )


@pytest.fixture
def outline(project):
    for kind in ("lessons", "exercises"):
        text = (project / f"sources/{kind}/05_masking.py").read_text()
        (project / f"sources/{kind}/07_sharing.py").write_text(text.replace("05 · Masking", "07 · Sharing heads"))
    return Outline.read(project, ADDRESS)


def filled(project, outline, kind, stem):
    source = read_source(project, project / f"sources/{kind}/05_masking.py")
    source = source.__class__(source.path, source.kind, stem, source.cells)
    return placeholders(source, outline, f"{kind}/{stem}.ipynb")


def test_the_outline(outline):
    assert outline.lessons == {"05_masking": "Masking", "07_sharing": "Sharing heads"}
    assert outline.exercises == {"05_masking", "07_sharing"}
    assert (outline.after("05_masking"), outline.after("07_sharing")) == ("07_sharing", None)


def test_a_lesson_links_its_exercises_and_the_next_lesson(project, outline):
    found = filled(project, outline, "lessons", "05_masking")
    assert found["exercises_link"] == (
        f"[exercises](../exercises/05_masking.ipynb) ([in Colab]({colab_link(ADDRESS, 'exercises/05_masking.ipynb')}))"
    )
    assert found["next_lesson_link"].startswith(
        "[lesson 07, Sharing heads](../notebooks/07_sharing.ipynb) ([in Colab]("
    )
    assert found["exercises_link"] in found["next_steps"] and found["next_lesson_link"] in found["next_steps"]


def test_exercises_link_their_lesson_and_the_next(project, outline):
    found = filled(project, outline, "exercises", "05_masking")
    assert found["lesson_link"].startswith("[lesson 05](../notebooks/05_masking.ipynb) ([in Colab](")
    assert found["next_steps"] == f"That's all for this lesson. Go on to {found['next_lesson_link']}."


def test_after_the_last_lesson_there_is_none(project, outline):
    for kind in ("lessons", "exercises"):
        found = filled(project, outline, kind, "07_sharing")
        assert "next_lesson_link" not in found and "the course" in found["next_steps"]


def test_without_exercises_there_is_nothing_to_link(project, outline):
    (project / "sources/exercises/07_sharing.py").unlink()
    assert set(filled(project, Outline.read(project, ADDRESS), "lessons", "07_sharing")) == {
        "colab_link",
        "lesson_link",
    }


@pytest.fixture(scope="module")
def course(root):
    """Every notebook of the course, as the sources say now."""
    found, errors = targets(root)
    assert not errors
    return {target.path: target.notebook for target in found}


def links(notebook):
    return {link for cell in notebook.cells if cell.cell_type == "markdown" for link in LINK.findall(cell.source)}


def test_every_link_inside_the_course_leads_to_a_file(root, course):
    ours = colab_link(repository_address(root), "")
    for path, notebook in course.items():
        for link in links(notebook):
            if link.startswith(ours):
                assert link.removeprefix(ours) in course, (path, link)
            elif not re.match(r"https?://|#|attachment:", link):
                there = (root / path).parent.joinpath(link.partition("#")[0]).resolve()
                assert there.exists() or there.relative_to(root).as_posix() in course, (path, link)


def test_every_lesson_leads_on_here_and_in_colab(root, course):
    ours, lessons = (
        colab_link(repository_address(root), ""),
        sorted(path for path in course if path.startswith("notebooks")),
    )
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
