"""Notebooks from strangers: read, or refused with a reason."""

import json

import pytest

from course_grader.submissions.notebook import Unreadable, parse

GOOD = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"null", "not a notebook"),
        (b"[1]", "not a notebook"),
        (b'"x"', "not a notebook"),
        (b'{"nbformat": 4, "cells": {}}', "not a notebook"),
        (b'{"nbformat": 4, "cells": [', "not JSON"),
        (b"\xef\xbb\xbf{}", "not a notebook"),
        (b'{"a": "\xe9"}', "not UTF-8"),
        (b"[" * 200_000, "not JSON"),
        (json.dumps(GOOD | {"nbformat": 3}).encode(), "format 3"),
        (json.dumps(GOOD | {"nbformat": 5}).encode(), "format 5"),
        (json.dumps(GOOD | {"nbformat": True}).encode(), "format True"),
        (json.dumps(GOOD | {"nbformat": "4"}).encode(), "format 4"),
        (json.dumps(GOOD | {"cells": [None]}).encode(), "not a cell"),
        (json.dumps(GOOD | {"cells": [{"source": 7}]}).encode(), "not text"),
        (json.dumps(GOOD | {"cells": [{"source": ["a", 7]}]}).encode(), "not text"),
        (json.dumps(GOOD | {"cells": [{}] * 2_001}).encode(), "2001 cells"),
    ],
)
def test_unreadable_files_say_why(data, why):
    with pytest.raises(Unreadable, match=why):
        parse(data)


def test_parts_of_the_wrong_type_are_left_out():
    cell = {"cell_type": ["code"], "id": 7, "source": "x\ud800", "metadata": {"nbgrader": {"grade_id": {}}}}
    (handed,), metadata = parse(json.dumps(GOOD | {"cells": [cell], "metadata": []}).encode())
    assert (handed.kind, handed.text, handed.id, handed.grade_id, metadata) == ("", "x?", "", "", {})
