"""A built notebook as the site shows it: moving pictures alive where they can be, links to where it can be run."""

import html
import json
import re
from pathlib import PurePosixPath

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from course_authoring.assemble import INSTALL_ID
from course_authoring.execute import WIDGET_STATE
from course_authoring.links import colab_link

from .folding import INTERACTIVE, draws, only_asks, prepares_drawing
from .try_it import anchor, answered_here, with_question, with_questions

# Lessons whose model runs on the live page -> where it stands there.
LIVE = {"10": "a-word", "11": "a-word", "12": "a-text", "13": "written-twice"}
STILL = 'class="needs-kernel"'  # a moving picture that does not move on the page
TASK = re.compile(r"^### Task (\d+)", re.MULTILINE)
CHECK = re.compile(r'^check\("([\d.]+)"', re.MULTILINE)
READ_HERE = (
    "This page was run for you. Where it asks you to run a cell, that works in the notebook: in the course's folder "
    "<code>make lab</code> sets everything up, once, and opens JupyterLab."
)
ANSWERED = (
    "These can be answered on this page: {}. The others are answered in the notebook, which in the course's "
    "folder <code>make lab</code> opens."
)
COLAB = re.compile(r"\[▶ Open in Colab\]\([^)]*\)(?: · )?")


def for_site(notebook: NotebookNode, path: str, address: str | None) -> NotebookNode:
    """Change a notebook for the site; it is handed back.

    Args:
        notebook: A built lesson, or exercises as students get them.
        path: Where it stands in the repository.
        address: The public address that the notebooks hold; None: they have no way into Colab.
    """
    colab = colab_link(address, path) if address else None
    for cell, following in zip(notebook.cells, [*notebook.cells[1:], None], strict=True):
        cell.pop("attachments", None)
        if cell.id == INSTALL_ID:
            cell.metadata["tags"] = ["remove-cell"]
        elif "setup" in cell.metadata.get("tags", ()):
            _add_tag(cell, "hide-input")
            cell.metadata["mystnb"] = {"code_prompt_show": "Show the imports", "code_prompt_hide": "Hide the imports"}
        elif cell.metadata.get("jupyter", {}).get("source_hidden") or only_asks(cell):
            _add_tag(cell, "hide-input")
            cell.metadata["mystnb"] = {"code_prompt_show": "Show the code", "code_prompt_hide": "Hide the code"}
        elif cell.metadata.get("collapsed"):
            _add_tag(cell, "hide-output")
            cell.metadata["mystnb"] = {
                "code_prompt_show": "Show what comes out",
                "code_prompt_hide": "Hide what comes out",
            }
        if draws(cell) or prepares_drawing(cell, following):  # on a narrow screen static/phone.js folds its code
            _add_tag(cell, "drawing")
        for output in cell.get("outputs", ()):
            _revive(output, colab)
    _notice_before_picture(notebook.cells)
    for cell in notebook.cells[:2]:
        if cell.cell_type == "markdown":  # the bar below holds the link once
            cell.source = COLAB.sub("", cell.source)
    if path.startswith("exercises"):  # there each exercise is a third-level heading, under no second one
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = with_questions(re.sub(r"\A### ", "## ", cell.source))
    tasks = _ask_its_tasks(notebook.cells) if path == "notebooks/quick_tour.ipynb" else {}
    notebook.cells.insert(1, new_markdown_cell(_links(path, colab, address, tasks), id="site-links"))
    return notebook


def _add_tag(cell: NotebookNode, tag: str) -> None:
    cell.metadata["tags"] = [*cell.metadata.get("tags", ()), tag]


def _links(path: str, colab: str | None, address: str | None, tasks: dict[str, str]) -> str:
    links = [f'<a href="../downloads/{path}" download="{PurePosixPath(path).name}">Download the notebook</a>']
    name = PurePosixPath(path).stem
    if numbers := answered_here(name):
        page = "" if path.startswith("exercises") else f"../exercises/{name}.html"
        links.append(f'<a href="{page}#{anchor(numbers[0])}">Try exercise {numbers[0]} right here</a>')
    links += [f'<a href="#{place}">Try {task} right here</a>' for task, place in tasks.items()]
    if path.startswith("notebooks") and name[:2] in LIVE:
        links.append(f'<a href="../live/index.html#{LIVE[name[:2]]}">See its model at work</a>')
    if colab:
        links.insert(0, f'<a href="{html.escape(colab)}">Open in Colab</a>')
        links.append(f'<a href="{address}/discussions">Ask a question</a>')
    said = ANSWERED.format(", ".join(numbers)) if path.startswith("exercises") and numbers else READ_HERE
    return f'<p class="notebook-links">{" ".join(links)}</p><p>{said}</p>'


def _ask_its_tasks(cells: list[NotebookNode]) -> dict[str, str]:
    """In the tour, let the tasks be answered that the page can judge: "task 4" and the like -> where it stands.

    A statement is the last Markdown before its check.
    """
    statement, tasks = cells[0], {}
    for cell in cells:
        if cell.cell_type == "markdown":
            statement = cell
        elif check := CHECK.search(cell.source):
            asked = with_question(statement.source, check.group(1))
            if asked != statement.source:
                task, place = TASK.search(asked)[1], f"tour-{anchor(check.group(1))}"
                statement.source = f"({place})=\n{asked}"
                tasks[f"task {task}"] = place
    return tasks


def _revive(output: NotebookNode, colab: str | None) -> None:
    """Give an output that shows a widget what the site shows in its place."""
    if state := output.get("metadata", {}).get(WIDGET_STATE):
        output.data["text/html"] = widget_place(state)
        return
    plain = output.get("data", {}).get("text/plain", "")
    if not (match := INTERACTIVE.fullmatch(plain.strip())) or "text/html" in output.data:
        return
    name = html.escape(match.group(1).rstrip("."))
    text = f"A moving picture belongs here: {name}. It computes in Python; the page shows its first state, above."
    place = f'<a href="{html.escape(colab)}">in Colab</a> or in JupyterLab' if colab else "in JupyterLab"
    run = f"To try it, open this notebook {place}."
    output.data["text/html"] = f"<p {STILL}>{text} {run}</p>"


def _notice_before_picture(cells: list[NotebookNode]) -> None:
    """Where a picture stands for one that moves, the line that says so comes before it, after the text that asks to move it."""
    for before, cell in zip(cells, cells[1:], strict=False):
        notice = next(
            (output for output in cell.get("outputs", ()) if STILL in output.get("data", {}).get("text/html", "")), None
        )
        if notice is None:
            continue
        shown = cell if len(cell.outputs) > 1 else before
        if not any("image/png" in output.get("data", {}) for output in shown.get("outputs", ())):
            continue
        cell.outputs.remove(notice)
        notice.data["text/html"] = notice.data["text/html"].replace("its first state, above", "its first state, below")
        shown.outputs.insert(0, notice)
        if shown is before:  # what is left is a name alone
            _add_tag(cell, "remove-cell")


def widget_place(state: dict) -> str:
    """Where ``static/course_widgets.js`` puts a widget: its module's name and its state as JSON."""
    text = json.dumps(state, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<div class="course-widget"><noscript>This moving picture needs JavaScript.</noscript>'
        f'<script type="application/json">{text}</script></div>'
    )
