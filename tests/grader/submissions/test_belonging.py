"""Which lesson a notebook belongs to, and whose text it is."""

import json

import handed_in
import pytest

from course_grader.master import load_masters
from course_grader.submissions.belonging import (
    is_solution_as_built,
    is_untouched,
    kind_of,
    lesson_of,
    of_the_course,
)
from course_grader.submissions.notebook import parse
from course_grader.submissions.rebuild import Handed


@pytest.fixture(scope="module")
def masters(root):
    return load_masters(root / "exercises")


def built(root, folder, stem=handed_in.LESSON_01):
    return parse((root / folder / f"{stem}.ipynb").read_bytes())


def test_the_lesson_is_found_by_ids_then_metadata_then_checks_then_name(masters):
    cells, metadata = parse(handed_in.as_bytes(handed_in.solved()))
    check_of_10 = [Handed("code", 'check("10.1", f)')]
    assert (
        lesson_of(cells, {"course": {"built_from": "sources/exercises/05_masking.py"}}, "05_masking", masters) == "01"
    )
    assert lesson_of(check_of_10, metadata, "05_masking", masters) == "01"
    assert lesson_of(check_of_10, {}, "05_masking", masters) == "10"
    assert lesson_of([], {}, "my 05_masking (2).ipynb", masters) == "05"
    for nothing in ({}, {"course": {"built_from": ["x"]}}, {"course": 7}):
        assert lesson_of([], nothing, "x", masters) is None


def test_a_lesson_that_is_the_only_one_does_not_take_what_is_none_of_it(masters):
    assert lesson_of([], {}, "x", {"05": masters["05"]}) is None


def test_a_lessons_page_is_no_exercise_notebook(root, masters):
    cells, metadata = built(root, "notebooks")
    assert lesson_of(cells, metadata, f"{handed_in.LESSON_01}.ipynb", masters) is None
    cells.append(Handed("code", "def dot(a, b): ...\ncheck('1.1', dot)"))
    assert lesson_of(cells, metadata, "x", masters) == "01"


def test_the_kind_is_told_by_metadata_then_by_folder(root):
    for folder, kind in (("exercises", "exercise"), ("solutions", "solution"), ("notebooks", "lesson")):
        assert kind_of(built(root, folder)[1], "solutions/x.ipynb") == kind
        assert kind_of({}, f"clone/{folder}/x.ipynb") == kind
    assert kind_of({}, "solutions.ipynb") == kind_of({"course": {"kind": 7}}, "x.ipynb") == "exercise"


def test_the_solution_as_built(root, masters):
    for stem in (master.stem for master in masters.values()):
        cells, metadata = built(root, "solutions", stem)
        assert is_solution_as_built(cells, metadata, masters[stem[:2]])
    cells, metadata = built(root, "solutions")
    own = [Handed(c.kind, "def dot(a, b): ...", c.id) if c.id == "answer-1-1" else c for c in cells]
    assert not is_solution_as_built(own, metadata, masters["01"]) and len(of_the_course(own, metadata)) == 2
    assert of_the_course(cells, {})[0].startswith("9 of its cells")


def test_honest_work_holds_nothing_of_the_courses_solution(masters):
    cells, metadata = parse(handed_in.as_bytes(handed_in.solved()))
    assert of_the_course(cells, metadata) == () and not is_solution_as_built(cells, metadata, masters["01"])


def test_untouched_is_what_was_handed_out(root, masters):
    assert is_untouched(built(root, "exercises")[0], masters["01"])
    some = handed_in.solved(only={"answer-1-1"})
    extra = handed_in.with_cell(handed_in.blank(), "def dot(a, b): ...")
    for notebook in (some, extra):
        assert not is_untouched(parse(json.dumps(notebook).encode())[0], masters["01"])
