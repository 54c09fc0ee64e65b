"""The documentation text."""

import sys

import pytest

from course_utils.datasets.documentation import python_documentation, split_words


def test_the_text_is_the_language_reference():
    text = python_documentation()
    assert len(text) > 300_000 and "while_stmt" in text


def test_missing_text_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    with pytest.raises(RuntimeError, match=r"pydoc_data.*install"):
        python_documentation()


def test_split_words():
    assert split_words("Call float('nan') or __init__! 3.14 _ x1") == ["call", "float", "nan", "or", "__init__", "x"]
