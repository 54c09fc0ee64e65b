"""A check of the site finds what it looks for, and nothing where all is well."""

import pytest

from course_site import links


@pytest.fixture
def site(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "index.html").write_text('<h1 id="top-of">x</h1><a href="a/b.html#part">x</a><img src="a/p%20q.png">')
    (tmp_path / "a" / "b.html").write_text(
        '<p id="part"><a href="../#top-of">x</a><a href="https://example.org/">y</a>'
    )
    (tmp_path / "a" / "p q.png").write_bytes(b"")
    (tmp_path / "s.css").write_text("p { background: url('a/p q.png') } a { background: url(data:x) }")
    return tmp_path


def test_a_whole_site_has_no_problem(site):
    assert links.problems(site) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<a href="c.html">', "'c.html' leads nowhere"),
        ('<a href="b.html#other">', "'b.html#other' has no such anchor"),
        ('<a href="#other">', "'#other' has no such anchor"),
        ('<a href="../../x">', "leads out of the site"),
        ('<img src="none.png">', "'none.png' leads nowhere"),
        ('<script src="https://cdn.example.org/x.js">', "from elsewhere"),
        ('<script src="//cdn.example.org/x.js">', "from elsewhere"),
        ('<link rel="stylesheet" href="https://fonts.example.org/css">', "from elsewhere"),
        ('<link rel="preconnect" href="https://fonts.example.org">', "from elsewhere"),
    ],
)
def test_what_is_wrong_on_a_page_is_named(site, text, message):
    with (site / "a" / "b.html").open("a") as page:
        page.write(text)
    (problem,) = links.problems(site)
    assert problem.startswith("a/b.html: ") and message in problem


@pytest.mark.parametrize("rule", ["@import 'https://x.org/a.css';", 'p { background: url("//x.org/a.png") }'])
def test_styles_that_load_from_elsewhere_are_named(site, rule):
    (site / "s.css").write_text(rule)
    (problem,) = links.problems(site)
    assert problem.startswith("s.css: loads")


def test_a_page_that_is_too_large_is_named(site, monkeypatch):
    monkeypatch.setattr(links, "MOST_BYTES", 40)
    assert any("at most 40" in problem for problem in links.problems(site))


def test_an_empty_folder_is_no_site(tmp_path):
    assert "no page" in links.problems(tmp_path)[0]
