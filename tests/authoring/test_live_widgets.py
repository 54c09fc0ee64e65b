"""What is kept of a widget that needs no kernel, and of one that does."""

import pytest

from course_authoring import live_widgets
from course_authoring.assemble import assemble
from course_authoring.errors import AuthoringError
from course_authoring.execute import execute
from course_authoring.links import Outline
from course_authoring.source import read_source

MODULE = "export default { render() {} }\n"
WIDGET = f"""import anywidget, traitlets
class Dots(anywidget.AnyWidget):
    _esm = {MODULE!r}
    names = traitlets.List(["a"]).tag(sync=True)
    numbers = traitlets.Bytes(b"xyz").tag(sync=True)
dots = Dots()
dots.names = ["a", "b"]
dots"""


@pytest.fixture
def output(project, edit):
    """The output of a cell of this code, after the build has run it."""
    folder = project / live_widgets.MODULES
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dots.js").write_text(MODULE, encoding="utf-8")

    def run(code):
        edit("print(math.sqrt(16))", code, "sources/lessons/05_masking.py")
        source = read_source(project, project / "sources/lessons/05_masking.py")
        notebook = assemble(source, Outline.read(project, "https://github.com/a/b"))["notebooks/05_masking.ipynb"]
        execute(source, notebook, project)
        assert "widgets" not in notebook.metadata
        return notebook.cells[4].outputs[-1]

    return run


def test_the_state_of_an_anywidget_is_kept_without_its_module(output):
    kept = output(WIDGET).metadata[live_widgets.KEY]
    assert kept == {"module": "dots", "state": {"names": ["a", "b"]}, "bytes": {"numbers": "eHl6"}}


def test_of_a_widget_that_computes_in_python_nothing_is_kept(output):
    assert output("from ipywidgets import IntSlider\nIntSlider()").metadata == {}


def test_of_a_widget_of_somebody_else_nothing_is_kept(output):
    assert output(WIDGET.replace("render()", "render( )")).metadata == {}


def test_a_state_that_is_too_large_for_a_page_stops_the_build(output, monkeypatch):
    monkeypatch.setattr(live_widgets, "MOST_CHARACTERS", 50)
    with pytest.raises(AuthoringError, match="too many for a page"):
        output(WIDGET)
