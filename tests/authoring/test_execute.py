"""Execution: what is kept of the outputs, and which library files a notebook depends on."""

import pytest

from course_authoring.assemble import assemble
from course_authoring.execute import WIDGET_VIEW, execute, provenance
from course_authoring.source import read_source


def lesson(project):
    source = read_source(project, project / "sources/lessons/05_masking.py")
    return source, assemble(source, "https://github.com/a/b")["notebooks/05_masking.ipynb"]


def test_a_widget_leaves_its_text_and_no_view(project, edit):
    edit("print(math.sqrt(16))", "from ipywidgets import IntSlider\nIntSlider()", "sources/lessons/05_masking.py")
    source, notebook = lesson(project)
    seen = []
    execute(source, notebook, project, on_cell=lambda: seen.append(1))
    (output,) = notebook.cells[3].outputs
    assert output.data["text/plain"] == "IntSlider(value=0)" and WIDGET_VIEW not in output.data
    assert "widgets" not in notebook.metadata
    assert len(seen) == 3


def test_addresses_in_memory_are_taken_out(project, edit):
    edit("print(math.sqrt(16))", "object()", "sources/lessons/05_masking.py")
    source, notebook = lesson(project)
    execute(source, notebook, project)
    assert notebook.cells[3].outputs[0].data["text/plain"] == "<object>"


def test_prints_become_one_output(project, edit):
    code = "import time\nprint('a', flush=True)\ntime.sleep(0.4)\nprint('b', flush=True)"
    edit("print(math.sqrt(16))", code, "sources/lessons/05_masking.py")
    source, notebook = lesson(project)
    execute(source, notebook, project)
    assert [output.text for output in notebook.cells[3].outputs] == ["a\nb\n"]


@pytest.fixture
def library(project):
    package = project / "course_utils"
    (package / "checks").mkdir(parents=True)
    for name, text in {
        "__init__": "", "low": "X = 1\n", "middle": "from .low import X\n", "other": "Y = 1\n",
        "checks/__init__": "from .engine import check\n", "checks/engine": "",
        "checks/lesson_05": "from course_utils import other\n",
    }.items():  # fmt: skip
        (package / f"{name}.py").write_text(text)
    return package


@pytest.mark.parametrize(
    ("statement", "changed", "matters"),
    [
        ("from course_utils.middle import X", "low", True),
        ("from course_utils import middle", "low", True),
        ("import course_utils.middle", "low", True),
        ("from course_utils.middle import X", "other", False),
        ("from course_utils.checks import check", "checks/lesson_05", True),
        ("from course_utils.checks import check", "other", True),
        ("from course_utils.checks import check", "low", False),
    ],
)
def test_provenance_follows_the_imports(project, edit, library, statement, changed, matters):
    edit("import math", statement, "sources/lessons/05_masking.py")
    before = provenance(lesson(project)[1], project)
    (library / f"{changed}.py").write_text("X = Y = 2\n")
    assert (provenance(lesson(project)[1], project) != before) == matters
