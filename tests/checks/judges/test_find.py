"""Every exercise of the catalogue has its file, and every file its exercise."""

import inspect
import pkgutil
from importlib import import_module

import pytest

from course_utils.checks.catalogue import catalogue, listed
from course_utils.checks.judges import lessons
from course_utils.checks.judges.exercise import Exercise, Quiz
from course_utils.checks.judges.experiment import Experiment
from course_utils.checks.judges.find import _entries, all_entries, find
from course_utils.checks.probes.codec import encode, pack


def test_every_exercise_is_found_with_what_the_catalogue_knows():
    entries = all_entries()
    assert list(entries) == list(catalogue())
    for number, entry in entries.items():
        assert isinstance(entry, Quiz if listed(number).is_quiz else Exercise | Experiment) and entry.number == number


@pytest.mark.parametrize("lesson", sorted({entry.lesson for entry in catalogue().values()}))
def test_every_file_belongs_to_an_exercise(lesson):
    exercises, quizzes = _entries(lesson)
    known = [entry for entry in catalogue().values() if entry.lesson == lesson]
    assert set(exercises) == {entry.answer for entry in known if not entry.is_quiz}
    assert set(quizzes) == {entry.number for entry in known if entry.is_quiz}
    package = import_module(f"{lessons.__name__}.lesson_{lesson:02d}")
    files = {
        module.name: import_module(f"{package.__name__}.{module.name}")
        for module in pkgutil.iter_modules(package.__path__)
    }
    own = {name for name, file in files.items() if hasattr(file, "EXERCISE") or hasattr(file, "EXPERIMENT")}
    assert ("quizzes" in files) == bool(quizzes) and len(own) == len(exercises)
    shared = [name for name in files if name not in own and name != "quizzes"]
    texts = "".join(inspect.getsource(file) for file in files.values())
    assert all(f"from .{name} import" in texts for name in shared), shared


def test_a_quiz_explains_each_of_its_options():
    for number, entry in all_entries().items():
        if isinstance(entry, Quiz):
            assert set(entry.explanations) == set(listed(number).options), number


def test_an_exercise_that_has_no_file(monkeypatch):
    monkeypatch.setitem(catalogue(), "1.99", listed("1.1").__class__("1.99", "New", 1, "brand_new"))
    with pytest.raises(LookupError, match=r"1\.99 \(brand_new\) has no file in judges/lessons/lesson_01"):
        find("1.99")


@pytest.mark.parametrize("number", [n for n, entry in all_entries().items() if isinstance(entry, Exercise)])
def test_cases_are_plain_data(number):
    """They are carried to where the answer runs; what is no plain data would arrive as None."""
    for case in find(number).cases(1):
        text, data = pack(encode(dict(case)))
        assert '"other"' not in text, list(case)
