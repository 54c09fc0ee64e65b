"""Execution: what is kept of the outputs."""

from course_authoring.assemble import assemble
from course_authoring.execute import WIDGET_VIEW, execute
from course_authoring.links import Outline
from course_authoring.source import read_source


def lesson(project):
    source = read_source(project, project / "sources/lessons/05_masking.py")
    return source, assemble(source, Outline.read(project, "https://github.com/a/b"))["notebooks/05_masking.ipynb"]


def test_a_widget_leaves_its_text_and_no_view(project, edit):
    edit("print(math.sqrt(16))", "from ipywidgets import IntSlider\nIntSlider()", "sources/lessons/05_masking.py")
    source, notebook = lesson(project)
    seen = []
    execute(source, notebook, project, on_cell=lambda: seen.append(1))
    (output,) = notebook.cells[4].outputs
    assert output.data["text/plain"] == "IntSlider(value=0)" and WIDGET_VIEW not in output.data
    assert "widgets" not in notebook.metadata
    assert len(seen) == 4


def test_addresses_in_memory_are_taken_out(project, edit):
    edit("print(math.sqrt(16))", "object()", "sources/lessons/05_masking.py")
    source, notebook = lesson(project)
    execute(source, notebook, project)
    assert notebook.cells[4].outputs[0].data["text/plain"] == "<object>"


def test_prints_become_one_output(project, edit):
    code = "import time\nprint('a', flush=True)\ntime.sleep(0.4)\nprint('b', flush=True)"
    edit("print(math.sqrt(16))", code, "sources/lessons/05_masking.py")
    source, notebook = lesson(project)
    execute(source, notebook, project)
    assert [output.text for output in notebook.cells[4].outputs] == ["a\nb\n"]
