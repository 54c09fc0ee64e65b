"""The configuration promises what the site promises."""

from course_site import conf


def test_nothing_is_run_and_nothing_is_loaded_from_elsewhere():
    assert conf.nb_execution_mode == "off"
    assert conf.nb_ipywidgets_js == {}
    assert not conf.mathjax_path.startswith("http")


def test_the_public_address_comes_from_the_one_place(root):
    assert conf.html_theme_options["repository_url"] in (root / "pyproject.toml").read_text(encoding="utf-8")
    assert "github.com" not in (root / "course_site" / "conf.py").read_text(encoding="utf-8")
