"""What becomes of a notebook on the site, and of the known mistakes."""

import json
import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_authoring.assemble import INSTALL_ID
from course_authoring.execute import WIDGET_STATE
from course_checks.deciding.find import all_entries
from course_site.mistakes import escaped, mistakes_page
from course_site.notebooks import for_site, widget_place

ROOT = Path(__file__).parents[2]
ADDRESS = "https://github.com/a/b"


def notebook(*outputs):
    first = new_markdown_cell("# 05 · Masking\n\n[▶ Open in Colab](https://x/y) · about 80 minutes")
    install = new_code_cell("install()", id=INSTALL_ID)
    return new_notebook(
        cells=[first, install, new_code_cell("x", outputs=list(outputs)), new_markdown_cell("### 5.1 · a")]
    )


def shown(text, metadata=None):
    output = new_output("execute_result", data={"text/plain": text}, metadata=metadata or {})
    page = for_site(notebook(output), "notebooks/05_masking.ipynb", ADDRESS)
    return page.cells[3].outputs[0].data.get("text/html")


def test_links_to_run_and_to_download_it_stand_once_at_the_top():
    page = for_site(notebook(), "notebooks/05_masking.ipynb", ADDRESS)
    assert page.cells[0].source == "# 05 · Masking\n\nabout 80 minutes"
    assert "a/b/blob/main/notebooks/05_masking.ipynb" in page.cells[1].source
    assert 'href="../downloads/notebooks/05_masking.ipynb"' in page.cells[1].source
    assert page.cells[2].metadata.tags == ["remove-cell"]


def test_without_an_address_nothing_leads_away():
    output = new_output("execute_result", data={"text/plain": "[interactive: x. Run this cell to look.]"})
    page = for_site(notebook(output), "notebooks/05_masking.ipynb", None)
    assert "Download the notebook" in page.cells[1].source and "https:" not in page.cells[1].source
    revived = page.cells[3].outputs[0].data["text/html"]
    assert "open this notebook in JupyterLab" in revived and "href" not in revived


def test_an_exercise_is_a_heading_of_the_second_level():
    assert for_site(notebook(), "exercises/05_masking.ipynb", ADDRESS).cells[-1].source == "## 5.1 · a"
    assert for_site(notebook(), "notebooks/05_masking.ipynb", ADDRESS).cells[-1].source == "### 5.1 · a"


def test_the_tasks_of_the_tour_that_a_page_can_judge_are_answered_there():
    tour = nbformat.read(ROOT / "notebooks" / "quick_tour.ipynb", 4)
    page = for_site(tour, "notebooks/quick_tour.ipynb", ADDRESS)
    asked = [(n, cell.source) for cell in page.cells for n in re.findall(r'data-try="([\d.]+)"', cell.source)]
    assert [number for number, _ in asked] == ["5.2", "13.9"]
    assert "three keys stand in the cache" in asked[0][1] and "- **d.** X, Y and Z" in asked[1][1]


def test_a_widget_that_needs_no_kernel_is_put_on_the_page():
    state = {"module": "see_through", "state": {"keys": ["</script><b>"]}, "bytes": {}}
    page = shown("[interactive: x. Run this cell to look.]", {WIDGET_STATE: state})
    assert page == widget_place(state)
    text = re.search(r'<script type="application/json">(.*?)</script>', page).group(1)
    assert json.loads(text) == state and "<" not in text


def test_a_widget_that_needs_one_says_so_and_where_to_find_it():
    page = shown("[interactive: two vectors <and more>. Run this cell to use its controls.]")
    assert "computes in Python" in page and "&lt;and more&gt;" in page and "colab.research.google.com" in page


def test_what_would_tell_before_one_has_guessed_is_folded():
    covered = notebook(new_output("stream", text="40"))
    covered.cells[2].metadata = {"collapsed": True, "tags": ["nbval-ignore-output"]}
    page = for_site(covered, "notebooks/05_masking.ipynb", ADDRESS)
    assert page.cells[3].metadata.tags == ["nbval-ignore-output", "hide-output"]
    assert page.cells[3].metadata.mystnb.code_prompt_show == "Show what comes out"


def test_what_does_not_move_says_so_before_its_picture():
    figure = new_output("display_data", data={"image/png": "", "text/plain": "[figure: x]"})
    still = new_output("execute_result", data={"text/plain": "[interactive: x. Run this cell to look.]"})
    cells = [
        new_markdown_cell("# x"),
        new_code_cell("w.show_first_state()", outputs=[figure]),
        new_code_cell("w", outputs=[still]),
    ]
    _, _, shown, name = for_site(new_notebook(cells=cells), "notebooks/05_masking.ipynb", None).cells
    assert ["text/html" in output.data for output in shown.outputs] == [True, False]
    assert "first state, below" in shown.outputs[0].data["text/html"]
    assert "remove-cell" in name.metadata.tags and not name.outputs
    both = new_notebook(cells=[new_markdown_cell("# x"), new_code_cell("w", outputs=[figure, still])])
    *_, cell = for_site(both, "notebooks/05_masking.ipynb", None).cells
    assert ["text/html" in output.data for output in cell.outputs] == [True, False]


def test_other_outputs_stay_as_they_are():
    assert shown("tensor([1, 2])") is None


def test_every_exercise_and_each_of_its_mistakes_stands_there():
    page = mistakes_page()
    for number, entry in all_entries().items():
        assert f"### {number} · {escaped(entry.title)}" in page
        for mistake in getattr(entry, "known_mistakes", ()):
            assert escaped(mistake.looks_like)[1:] in page
            advice = escaped(mistake.advice)  # what to try is for those who have tried
            assert not advice or advice not in page


def test_no_text_is_taken_for_markup():
    assert escaped("a*b_c $x$ <b> [d](e) `f`") == r"a\*b\_c \$x\$ \<b\> \[d\](e) \`f\`"
