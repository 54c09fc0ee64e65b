"""What Sphinx is given: a small part of it built, without a warning."""

import pytest
from needs import install_command

pytestmark = pytest.mark.needs("site")
if not install_command("site"):  # else the mark skips these tests
    from sphinx.cmd.build import build_main

    from course_site import layout
    from course_site.__main__ import sphinx_options


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


def test_one_lesson_builds_without_a_warning_and_asks_nobody(source, tmp_path):
    kept = {"index.md", "05_masking.ipynb"}
    for path in [*source.rglob("*.md"), *source.rglob("*.rst"), *source.rglob("*.ipynb")]:
        if path.name not in kept and "extra" not in path.parts:
            path.unlink()
    for path in [*source.glob("*/index.md"), source / "exercises" / "05_masking.ipynb"]:
        path.unlink()
    (source / "index.md").write_text("# x\n\n```{toctree}\nnotebooks/05_masking\n```\n", encoding="utf-8")
    notebook = source / "notebooks" / "05_masking.ipynb"
    notebook.write_text(
        notebook.read_text(encoding="utf-8").replace("../exercises/", "https://example.org/"), encoding="utf-8"
    )
    onward = notebook.read_text(encoding="utf-8").replace("../notebooks/", "https://example.org/")
    notebook.write_text(onward, encoding="utf-8")
    assert build_main(sphinx_options(source, tmp_path / "site", tmp_path / "doctrees", jobs="1")) == 0
    page = (tmp_path / "site" / "notebooks" / "05_masking.html").read_text(encoding="utf-8")
    assert "jsdelivr" not in page and "cdnjs" not in page and "mathjax/tex-svg.js" in page
    assert page.count("<img") == page.count('alt="') >= 5
