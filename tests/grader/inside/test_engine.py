"""In the room a check judges nothing, and stops nothing."""

import inspect

import pytest

from course_grader.inside import engine
from course_utils import checks


def test_it_offers_what_a_notebook_imports():
    assert all(hasattr(engine, name) for name in checks.__all__)
    for name in ("check", "failing_case"):
        assert (
            inspect.signature(getattr(engine, name)).parameters.keys()
            == inspect.signature(getattr(checks, name)).parameters.keys()
        )


def test_a_check_goes_on(capsys):
    assert engine.check("1.1", None) is None
    assert capsys.readouterr().out == "1.1: the grader judges\n"


def test_there_is_no_failing_case():
    with pytest.raises(LookupError):
        engine.failing_case()
