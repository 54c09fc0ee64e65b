"""What strangers wrote cannot leave its place in a page."""

from course_grader.reports.html_page import code, document, text

NASTY = "</pre><script>alert(1)</script>&\"'"


def test_text_and_code_are_inert():
    assert "<" not in text(NASTY) and '"' not in text(NASTY)
    assert code(NASTY).count("<") == 2 and code(NASTY).startswith('<pre class="code">')


def test_code_keeps_its_lines_and_shows_what_cannot_be_seen():
    assert (
        "a\n\tb" in code("a\n\tb")
        and "\u202e" not in code("x\u202ey")
        and "\N{REPLACEMENT CHARACTER}" in code("x\u202ey")
    )


def test_a_document_allows_nothing_from_elsewhere_and_reads_in_the_dark_and_on_paper():
    page = document(NASTY, ["<p>x</p>"])
    assert "default-src 'none'" in page and "<script" not in page and page.endswith("</html>\n")
    assert "prefers-color-scheme:dark" in page and "@media print" in page
