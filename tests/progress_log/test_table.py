"""Progress as it is read: sums by lesson, one lesson in full, and a plain line where nothing is kept."""

import json

import pytest

import course_utils
from course_utils import progress_log
from course_utils.progress_log import store


@pytest.fixture
def exercises(root):
    return json.loads((root / "course_checks" / "catalogue.json").read_text(encoding="utf-8"))


def line(text, start):
    return next(" ".join(one.split()) for one in text.splitlines() if one.startswith(start))


def test_each_lesson_has_its_sums(file, exercises, monkeypatch):
    monkeypatch.setattr(store, "_now", lambda: "2026-03-01T10:00:00+00:00")
    own = [number for number in exercises if number.startswith("1.")]
    for number in (own[0], own[2], "1.99"):  # the last: an exercise that is no more
        progress_log.passed(number)
    monkeypatch.setattr(store, "_now", lambda: "2026-04-05T23:00:00+00:00")
    progress_log.predicted("4.1", True, "How much?", "a <b>", "c")
    text = repr(course_utils.progress())
    points = [sum(exercises[number]["points"] for number in numbers) for numbers in ((own[0], own[2]), own, exercises)]
    assert line(text, "01") == f"01 2 of {len(own)} {points[0]} of {points[1]} 2026-03-01 0"
    assert line(text, "04").endswith("2026-04-05 1") and line(text, "12").endswith("– 0")
    assert line(text, "all") == f"all 2 of {len(exercises)} {points[0]} of {points[2]} 2026-04-05 1"
    assert text.splitlines()[-1].startswith("Kept in ")


def test_one_lesson_lists_its_exercises_and_predictions(file, exercises):
    progress_log.passed("4.2")
    progress_log.predicted("4.1", True, "How much?", "a <b>", "c")
    shown = course_utils.progress(4)
    assert exercises["4.2"]["title"] in repr(shown) and line(repr(shown), "4.2").split()[-1].startswith("20")
    assert line(repr(shown), "4.3").endswith("–") and line(repr(shown), "4.1  How") == "4.1 How much? a <b> c"
    page = shown._repr_html_()
    assert page.count("<table>") == 2 and "a &lt;b&gt;" in page and "<b>" not in page


def test_the_home_folder_is_not_spelled_out(file, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    progress_log.passed("1.1")
    said = repr(course_utils.progress())
    assert str(tmp_path) not in said and "~" in said


@pytest.mark.parametrize("lesson", [99, -1])
def test_a_lesson_that_is_none(file, lesson):
    with pytest.raises(ValueError, match=r"there is no lesson .*: 0, 1, 2"):
        progress_log.show(lesson)


def test_where_no_person_works_one_line_is_all():
    assert repr(course_utils.progress()) == (
        "No progress yet. Nothing is kept: only a notebook page that you work in keeps progress."
    )
