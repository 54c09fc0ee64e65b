"""Figures keep their alternative texts."""

import base64
import hashlib

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from needs import install_command

pytestmark = pytest.mark.needs("site")
if not install_command("site"):  # else the mark skips these tests
    from course_site.extension import alternative_texts


def test_alternative_texts_are_found_by_the_name_of_the_picture():
    picture, text = b"\x89PNG", "Weights as a heatmap."
    data = {"image/png": base64.b64encode(picture).decode(), "text/plain": "[figure]"}
    outputs = [
        new_output("display_data", data=data, metadata={"image/png": {"alt": text}}),
        new_output("stream", text="x"),
    ]
    found = alternative_texts(new_notebook(cells=[new_code_cell("x", outputs=outputs)]))
    assert found == {hashlib.sha256(picture).hexdigest(): text}
