"""From an exercise's number to its file."""

import pytest

from course_checks.catalogue import CatalogueEntry, catalogue
from course_checks.deciding.exercise import Exercise, Quiz
from course_checks.deciding.experiment import Experiment
from course_checks.deciding.find import find, module_name


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
    assert module_name(CatalogueEntry("5.1", "A toy", 2, answer)) == name


def test_an_exercise_that_has_no_file(monkeypatch):
    monkeypatch.setitem(catalogue(), "5.99", CatalogueEntry("5.99", "New", 1, "brand_new"))
    with pytest.raises(LookupError, match=r"5\.99 \(brand_new\) has no file course_checks/lesson_05/brand_new\.py"):
        find("5.99")


def test_a_file_whose_own_import_fails_is_not_called_missing(monkeypatch):
    def fails(name):
        raise ModuleNotFoundError("No module named 'scipy'", name="scipy")

    monkeypatch.setattr("course_checks.deciding.find.importlib.import_module", fails)
    with pytest.raises(ModuleNotFoundError, match="scipy"):
        find.__wrapped__("5.2")
