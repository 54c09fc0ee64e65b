"""Which lesson a notebook belongs to, and whose text it is."""

import json

import handed_in
import pytest

from course_grader.released_notebook import load_releases
from course_grader.submissions.identify import (
    is_unchanged_solution,
    is_untouched,
    kind_of,
    lesson_of,
    signs_of_copying,
)
from course_grader.submissions.notebook import parse
from course_grader.submissions.rebuild import SubmittedCell


@pytest.fixture(scope="module")
def releases(root):
    return load_releases(root / "exercises")


def built(root, folder, stem=handed_in.LESSON_01):
    return parse((root / folder / f"{stem}.ipynb").read_bytes())


def test_the_lesson_is_found_by_ids_then_metadata_then_checks_then_name(releases):
    cells, metadata = parse(handed_in.as_bytes(handed_in.solved()))
    check_of_10 = [SubmittedCell("code", 'check("10.1", f)')]
    assert (
        lesson_of(cells, {"course": {"built_from": "sources/exercises/05_masking.py"}}, "05_masking", releases) == "01"
    )
    assert lesson_of(check_of_10, metadata, "05_masking", releases) == "01"
    assert lesson_of(check_of_10, {}, "05_masking", releases) == "10"
    assert lesson_of([], {}, "my 05_masking (2).ipynb", releases) == "05"
    for nothing in ({}, {"course": {"built_from": ["x"]}}, {"course": 7}):
        assert lesson_of([], nothing, "x", releases) is None


def test_a_lesson_that_is_the_only_one_does_not_take_what_is_none_of_it(releases):
    assert lesson_of([], {}, "x", {"05": releases["05"]}) is None


def test_a_lessons_page_is_no_exercise_notebook(root, releases):
    cells, metadata = built(root, "notebooks")
    assert lesson_of(cells, metadata, f"{handed_in.LESSON_01}.ipynb", releases) is None
    cells.append(SubmittedCell("code", "def dot(a, b): ...\ncheck('1.1', dot)"))
    assert lesson_of(cells, metadata, "x", releases) == "01"


def test_the_kind_is_told_by_metadata_then_by_folder(root):
    for folder, kind in (("exercises", "exercise"), ("solutions", "solution"), ("notebooks", "lesson")):
        assert kind_of(built(root, folder)[1], "solutions/x.ipynb") == kind
        assert kind_of({}, f"clone/{folder}/x.ipynb") == kind
    assert kind_of({}, "solutions.ipynb") == kind_of({"course": {"kind": 7}}, "x.ipynb") == "exercise"


def test_the_solution_as_built(root, releases):
    for stem in (released.stem for released in releases.values()):
        cells, metadata = built(root, "solutions", stem)
        assert is_unchanged_solution(cells, metadata, releases[stem[:2]])
    cells, metadata = built(root, "solutions")
    own = [SubmittedCell(c.kind, "def dot(a, b): ...", c.id) if c.id == "answer-1-1" else c for c in cells]
    assert not is_unchanged_solution(own, metadata, releases["01"]) and len(signs_of_copying(own, metadata)) == 2
    assert signs_of_copying(cells, {})[0].startswith("9 of its cells")


def test_honest_work_holds_nothing_of_the_courses_solution(releases):
    cells, metadata = parse(handed_in.as_bytes(handed_in.solved()))
    assert signs_of_copying(cells, metadata) == () and not is_unchanged_solution(cells, metadata, releases["01"])


def test_untouched_is_what_was_handed_out(root, releases):
    assert is_untouched(built(root, "exercises")[0], releases["01"])
    some = handed_in.solved(only={"answer-1-1"})
    extra = handed_in.with_cell(handed_in.blank(), "def dot(a, b): ...")
    for notebook in (some, extra):
        assert not is_untouched(parse(json.dumps(notebook).encode())[0], releases["01"])
