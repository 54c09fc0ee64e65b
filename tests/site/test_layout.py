"""What Sphinx is given, and a small part of it built: without a warning, and with nothing from elsewhere."""

import base64
import hashlib

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from needs import install_command

pytestmark = pytest.mark.needs("site")
if not install_command("site"):  # else the mark skips these tests
    from sphinx.cmd.build import build_main

    from course_site import conf, layout
    from course_site.__main__ import sphinx_options
    from course_site.extension import alternative_texts, breakable, lighter


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "source"
    layout.lay_out(folder)
    return folder


def test_every_notebook_is_there_to_be_read_and_to_be_downloaded(root, source):
    for kind in layout.FOLDERS:
        names = {path.name for path in (root / kind).glob("*.ipynb")}
        assert names and {path.name for path in (source / kind).glob("*.ipynb")} == names
        for name in names:
            assert (source / "extra" / "downloads" / kind / name).read_bytes() == (root / kind / name).read_bytes()


def test_no_solution_is_published(source):
    assert not any("solution" in path.name for path in source.rglob("*"))
    assert not any(
        "BEGIN SOLUTION" in path.read_text(encoding="utf-8") for path in (source / "exercises").glob("*.ipynb")
    )


def test_formulas_and_moving_pictures_come_from_here(source):
    assert (source / "_static" / "mathjax" / "tex-svg.js").stat().st_size > 1_000_000
    assert {path.stem for path in (source / "_static" / "widgets").glob("*.js")} >= {"see_through", "attention_viewer"}


def test_nothing_is_run_and_nothing_is_loaded_from_elsewhere():
    assert (conf.nb_execution_mode, conf.nb_ipywidgets_js) == ("off", {})
    assert not conf.mathjax_path.startswith("http")


def test_alternative_texts_are_found_by_the_name_of_the_picture():
    picture, text = b"\x89PNG", "Weights as a heatmap."
    data = {"image/png": base64.b64encode(picture).decode(), "text/plain": "[figure]"}
    figure = new_output("display_data", data=data, metadata={"image/png": {"alt": text}})
    cell = new_code_cell("x", outputs=[figure, new_output("stream", text="x")])
    assert alternative_texts(new_notebook(cells=[cell])) == {hashlib.sha256(picture).hexdigest(): text}


def test_a_page_does_without_the_scripts_that_it_does_not_need():
    names = ("scripts/fontawesome", "scripts/bootstrap", "searchtools", "language_data", "searchindex", "site")
    html = "".join(f'<script defer="defer" src="../_static/{name}.js?digest=1a"></script>' for name in names)
    left = lighter(html, "notebooks/05_masking")
    assert [name for name in names if f"{name}.js" in left] == ["scripts/bootstrap", "site"]
    assert lighter(html, "search").count("<script") == 5  # one searches there


def test_names_in_headings_break_between_their_parts():
    code = '<code><span class="pre">nn.MultiheadAttention</span></code>'
    found = breakable(f"<h2>With {code}</h2><p>{code}</p>")
    assert found == f"<h2>With {code.replace('nn.MultiheadA', 'nn.<wbr>Multihead<wbr>A')}</h2><p>{code}</p>"


def test_one_lesson_builds_without_a_warning_and_asks_nobody(source, tmp_path):
    kept = {"index.md", "05_masking.ipynb"}
    for path in [*source.rglob("*.md"), *source.rglob("*.rst"), *source.rglob("*.ipynb")]:
        if path.name not in kept and "extra" not in path.parts:
            path.unlink()
    for path in [*source.glob("*/index.md"), source / "exercises" / "05_masking.ipynb"]:
        path.unlink()
    (source / "index.md").write_text("# x\n\n```{toctree}\nnotebooks/05_masking\n```\n", encoding="utf-8")
    notebook = source / "notebooks" / "05_masking.ipynb"
    text = notebook.read_text(encoding="utf-8").replace("../exercises/", "https://example.org/")
    notebook.write_text(text.replace("../notebooks/", "https://example.org/"), encoding="utf-8")
    assert build_main(sphinx_options(source, tmp_path / "site", tmp_path / "doctrees", jobs="1")) == 0
    page = (tmp_path / "site" / "notebooks" / "05_masking.html").read_text(encoding="utf-8")
    assert "jsdelivr" not in page and "cdnjs" not in page and "mathjax/tex-svg.js" in page
    assert page.count("<img") == page.count('alt="') >= 5
