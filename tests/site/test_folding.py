"""Which code is folded on the site: what only asks, and on a phone what only draws."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_site.folding import draws, only_asks, prepares_drawing
from course_site.notebooks import for_site

ASKED = 'widgets.predict("5.A", "How much?", between=(0, 1))'
ANSWER = new_output("execute_result", data={"text/html": "<div></div>"})
FIGURE = new_output("display_data", data={"image/png": "", "text/plain": "<Figure>"})
PRINTED = new_output("stream", name="stdout", text="40")


@pytest.mark.parametrize(
    ("source", "folded"),
    [
        (ASKED, True),
        (f"a = [1]\n{ASKED}", True),
        (f"print(1)\n{ASKED}", False),
        (f"{ASKED}\nx = 1", False),
        ("!ls", False),
    ],
)
def test_what_only_asks(source, folded):
    assert only_asks(new_code_cell(source, outputs=[ANSWER])) is folded


def test_what_prints_before_it_asks_stays_open():
    assert not only_asks(new_code_cell(f"a = show()\n{ASKED}", outputs=[PRINTED, ANSWER]))


def test_what_draws_and_neither_prints_nor_defines():
    assert draws(new_code_cell("plotting.show(ax)", outputs=[FIGURE]))
    assert not draws(new_code_cell("plotting.show(ax)", outputs=[PRINTED, FIGURE]))
    assert not draws(new_code_cell("def f():\n    return 1\nplotting.show(ax)", outputs=[FIGURE]))
    assert not draws(new_code_cell("1 + 1", outputs=[new_output("execute_result", data={"text/plain": "2"})]))
    moving = new_output("execute_result", data={"text/plain": "[interactive: x. Run this cell to look.]"})
    assert draws(new_code_cell("widgets.x()", outputs=[moving]))


def test_what_plots_belongs_to_the_cell_that_shows_it():
    plots, shows = new_code_cell("ax = plotting.new_axes()"), new_code_cell("plotting.show(ax)", outputs=[FIGURE])
    assert prepares_drawing(plots, shows)
    assert not prepares_drawing(plots, new_markdown_cell("x")) and not prepares_drawing(plots, None)
    assert not prepares_drawing(new_code_cell("loss = train()"), shows)


def test_the_page_says_what_is_folded():
    cells = [
        new_markdown_cell("# x"),
        new_code_cell(ASKED, outputs=[ANSWER]),
        new_code_cell("show()", outputs=[FIGURE]),
    ]
    page = for_site(new_notebook(cells=cells), "notebooks/05_masking.ipynb", None)
    _, _, asked, drawn = page.cells
    assert asked.metadata.tags == ["hide-input"] and asked.metadata.mystnb.code_prompt_show == "Show the code"
    assert drawn.metadata.tags == ["drawing"]
