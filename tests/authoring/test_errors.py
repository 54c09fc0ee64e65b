"""An authoring error says where and why, and keeps its parts."""

import copy

from course_authoring.errors import AuthoringError


def test_text_names_file_line_and_cell():
    assert str(AuthoringError("why", "a.py", 3, 40)) == "a.py:40: cell 3: why"
    assert str(AuthoringError("why", "a.py")) == "a.py: why"


def test_it_can_be_copied():
    error = copy.copy(AuthoringError("why", "a.py", 3, 40))
    assert (error.reason, error.path, error.cell, error.line) == ("why", "a.py", 3, 40)
