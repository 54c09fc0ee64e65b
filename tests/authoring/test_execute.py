"""Execution: what is kept of the outputs."""

import pytest

from course_authoring import execute as module
from course_authoring.assemble import assemble
from course_authoring.errors import AuthoringError
from course_authoring.execute import WIDGET_MODULES, WIDGET_STATE, WIDGET_VIEW, execute
from course_authoring.links import Outline
from course_authoring.source import read_source

MODULE = "export default { render() {} }\n"
ANYWIDGET = f"""import anywidget, traitlets
class Dots(anywidget.AnyWidget):
    _esm = {MODULE!r}
    names = traitlets.List(["a"]).tag(sync=True)
    numbers = traitlets.Bytes(b"xyz").tag(sync=True)
dots = Dots()
dots.names = ["a", "b"]
dots"""


@pytest.fixture
def output(project, edit):
    """The one output of a cell of this code, after the build has run it."""
    (project / WIDGET_MODULES).mkdir(parents=True)
    (project / WIDGET_MODULES / "dots.js").write_text(MODULE, encoding="utf-8")

    def run(code):
        edit("print(math.sqrt(16))", code, "sources/lessons/05_masking.py")
        source = read_source(project, project / "sources/lessons/05_masking.py")
        notebook = assemble(source, Outline.read(project, "https://github.com/a/b"))["notebooks/05_masking.ipynb"]
        cells_run = []
        execute(source, notebook, project, on_cell=lambda: cells_run.append(1))
        assert "widgets" not in notebook.metadata and len(cells_run) == 4
        (output,) = notebook.cells[4].outputs
        return output

    return run


def test_a_widget_that_computes_in_python_leaves_its_text_alone(output):
    kept = output("from ipywidgets import IntSlider\nIntSlider()")
    assert kept.data["text/plain"] == "IntSlider(value=0)" and WIDGET_VIEW not in kept.data and kept.metadata == {}


def test_the_state_of_an_anywidget_is_kept_without_its_module(output):
    state = {"module": "dots", "state": {"names": ["a", "b"]}, "bytes": {"numbers": "eHl6"}}
    assert output(ANYWIDGET).metadata[WIDGET_STATE] == state


def test_of_a_widget_with_a_module_of_somebody_else_nothing_is_kept(output):
    assert output(ANYWIDGET.replace("render()", "render( )")).metadata == {}


def test_a_state_that_is_too_large_for_a_page_stops_the_build(output, monkeypatch):
    monkeypatch.setattr(module, "MAX_STATE_CHARACTERS", 50)
    with pytest.raises(AuthoringError, match="cell 4: the state of this widget .* too many for a page"):
        output(ANYWIDGET)


def test_addresses_in_memory_are_taken_out(output):
    assert output("object()").data["text/plain"] == "<object>"


def test_prints_become_one_output(output):
    assert output("import time\nprint('a', flush=True)\ntime.sleep(0.4)\nprint('b', flush=True)").text == "a\nb\n"


def test_of_a_progress_bar_the_last_state_is_kept(output):
    kept = output("for n in range(3):\n    print(f'\\r{n} of 2 ', end='')\nprint('\\nthen')")
    assert kept.text == "2 of 2 \nthen\n"
