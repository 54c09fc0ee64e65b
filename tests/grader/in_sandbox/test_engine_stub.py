"""In the sandbox a check judges nothing, and stops nothing."""

import inspect

import pytest

import course_checks
from course_grader.in_sandbox import engine_stub


def test_it_offers_what_a_notebook_imports():
    assert all(hasattr(engine_stub, name) for name in course_checks.__all__)
    for name in ("check", "failing_case", "hint"):
        assert (
            inspect.signature(getattr(engine_stub, name)).parameters.keys()
            == inspect.signature(getattr(course_checks, name)).parameters.keys()
        )


def test_a_check_goes_on(capsys):
    assert engine_stub.check("1.1", None) is None
    assert capsys.readouterr().out == "1.1: the grader judges\n"


def test_there_is_no_failing_case_and_no_hint():
    for ask in (engine_stub.failing_case, engine_stub.hint):
        with pytest.raises(LookupError):
            ask()
