"""What exercises there are, and that each has its file and each file its exercise."""

import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import course_checks
from course_checks.catalogue import CatalogueEntry, catalogue, catalogue_entry
from course_checks.deciding.exercise import Exercise, Quiz
from course_checks.deciding.experiment import Experiment
from course_checks.deciding.find import find, module_name
from course_checks.running.encode import encode, pack
from course_checks.running.guard import resolve

LESSONS = sorted({entry.lesson for entry in catalogue().values()})


def of_lesson(lesson):
    return [entry for entry in catalogue().values() if entry.lesson == lesson]


@pytest.mark.parametrize("lesson", LESSONS)
def test_numbers_points_and_names_of_a_lesson(lesson):
    entries = of_lesson(lesson)
    assert [entry.number for entry in entries] == [f"{lesson}.{place}" for place in range(1, len(entries) + 1)]
    assert len(entries) >= 6 and sum(entry.points for entry in entries) >= 15
    assert len({entry.answer for entry in entries}) == len(entries)
    assert all(set(entry.options) >= {"a", "b", "c"} for entry in entries if entry.is_quiz)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("5.99", r"lesson 5 has 5\.1, 5\.2"),
        ("99.1", r'write it as in check\("1\.2", answer\)'),
        (5.2, r"no exercise 5\.2"),
        ("five", "no exercise 'five'"),
    ],
)
def test_a_number_that_is_none(number, words):
    with pytest.raises(ValueError, match=words):
        catalogue_entry(number)


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_file_is_an_exercises_or_used_by_one(lesson):
    expected = {module_name(entry).partition(".")[2] for entry in of_lesson(lesson) if not entry.is_quiz}
    folder = Path(course_checks.__file__).parent / f"lesson_{lesson:02d}"
    files = {module.name for module in pkgutil.iter_modules([str(folder)])}
    texts = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    assert expected <= files
    assert all(re.search(rf"from \.{name} import", texts) for name in files - expected)
    for name in expected:
        assert hasattr(import_module(f"course_checks.lesson_{lesson:02d}.{name}"), "EXERCISE")


@pytest.mark.parametrize("number", catalogue())
def test_each_exercise_is_found_whole(number):
    entry = find(number)
    assert entry.number == number
    if isinstance(entry, Quiz):
        assert set(entry.explanations) == set(entry.entry.options)
    elif isinstance(entry, Experiment):
        assert len(entry.claims) >= 3
    else:
        assert isinstance(entry, Exercise) and all(callable(resolve(name)) for name in entry.off_limits)
        assert entry.advice.endswith((".", "?"))
        for case in entry.cases(1):  # it is carried to where the answer runs; what is no plain data arrives as None
            assert '"kind": "other"' not in pack(encode(case.sent()))[0], list(case)


def test_each_kind_of_entry():
    assert isinstance(find("5.2"), Exercise) and isinstance(find("5.9"), Experiment) and isinstance(find("1.7"), Quiz)
    assert (find("5.2").title, find("5.2").entry.answer) == (catalogue()["5.2"].title, "causal_mask")


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("causal_mask", "lesson_05.causal_mask"),
        ("MyTransformer", "lesson_05.my_transformer"),
        ("Cache", "lesson_05.cache"),
    ],
)
def test_file_names(answer, name):
    assert module_name(CatalogueEntry("5.1", "A toy", 2, 5, True, answer)) == name


def test_an_exercise_that_has_no_file(monkeypatch):
    monkeypatch.setitem(catalogue(), "5.99", CatalogueEntry("5.99", "New", 1, 5, False, "brand_new"))
    with pytest.raises(LookupError, match=r"5\.99 \(brand_new\) has no file course_checks/lesson_05/brand_new\.py"):
        find("5.99")


def test_a_file_whose_own_import_fails_is_not_called_missing(monkeypatch):
    def fails(name):
        raise ModuleNotFoundError("No module named 'scipy'", name="scipy")

    monkeypatch.setattr("course_checks.deciding.find.importlib.import_module", fails)
    with pytest.raises(ModuleNotFoundError, match="scipy"):
        find.__wrapped__("5.2")
