"""Sphinx extension: what the notebooks' figures are given, scripts only where they do something, two pages of our own."""

import re
from pathlib import Path, PurePosixPath
from typing import Any

import nbformat
from docutils import nodes
from sphinx.application import Sphinx

from .panels import file_name, panels_of

SCRIPTS = {
    "course-widget": "course_widgets.js",
    "data-predict=": "predictions.js",
    "data-try=": "try_it.js",
}  # what stands on the page -> its script
TEMPLATES = {
    "index": "front.html",
    "live/index": "live/index.html",
}  # pages that are not the theme's -> their templates
# The theme's icons are drawn by its style sheet; this script, of 1.5 MB, would draw them again.
NEEDLESS = "fontawesome"
FOR_SEARCHING = (
    "searchtools",
    "language_data",
    "searchindex",
)  # asked for while one types, which this site does not offer
HEADING = re.compile(r"<h[1-4]>.*?</h[1-4]>", re.DOTALL)
NAME = re.compile(r'(?<=<span class="pre">)[^<]+(?=</span>)')
BETWEEN_PARTS = re.compile(r"(?<=[._])(?=\w)|(?<=[a-z])(?=[A-Z])")  # of a name such as nn.MultiheadAttention
SCRIPT = re.compile(r"""<script[^>]*\bsrc="[^"]*?([\w-]+)\.js[^"]*"[^>]*></script>""")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("doctree-read", tell_of_figures)
    app.connect("html-page-context", add_script)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def tell_of_figures(app: Sphinx, doctree: nodes.document) -> None:
    """Each figure of a notebook gets the alternative text that its output's metadata holds, and where it can be cut."""
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb":
        return
    notebook = nbformat.read(path, as_version=4)
    texts, panels = alternative_texts(notebook), panels_of(notebook)
    for image in doctree.findall(nodes.image):
        name = PurePosixPath(image["uri"]).stem
        if text := texts.get(name):
            image["alt"] = text
        if name in panels:
            image["panels"] = panels[name]


def alternative_texts(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """File name of a figure -> alternative text."""
    texts = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            for mime_type, details in output.get("metadata", {}).items():
                if mime_type in output.get("data", {}) and isinstance(details, dict) and "alt" in details:
                    texts[file_name(output.data[mime_type])] = details["alt"]
    return texts


def add_script(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> str | None:
    """Pages without moving pictures or questions load nothing for them; the front page and the live page load little at all."""
    context["lighter"] = lighter
    if doctree is not None and context.get("body"):
        context["body"] = breakable(with_panels(context["body"], doctree))
    html = [raw.astext() for raw in doctree.findall(nodes.raw)] if doctree is not None else []
    for mark, script in SCRIPTS.items():
        if any(mark in text for text in html):
            app.add_js_file(script, type="module")
    if doctree is not None and any(doctree.findall(nodes.literal_block)):
        app.add_js_file("copy_code.js", type="module")
    if pagename == "search":
        app.add_js_file("search_summary.js", defer="defer")
    return TEMPLATES.get(pagename)


def with_panels(html: str, doctree: nodes.document) -> str:
    """A page whose figures say where they can be cut: ``static/phone.js`` shows the parts one below the other on a phone."""
    for image in doctree.findall(lambda node: isinstance(node, nodes.image) and "panels" in node):
        name = PurePosixPath(image["uri"]).name
        html = html.replace(f'/{name}"', f'/{name}" data-panels="{" ".join(map(str, image["panels"]))}"')
    return html


def breakable(html: str) -> str:
    """Names in headings may break between their parts, and not inside a word."""

    def broken(heading: re.Match) -> str:
        return NAME.sub(lambda name: BETWEEN_PARTS.sub("<wbr>", name[0]), heading[0])

    return HEADING.sub(broken, html)


def lighter(html: str, pagename: str = "") -> str:
    """Part of a page's head without the scripts that the page can do without."""
    needless = {NEEDLESS} if pagename == "search" else {NEEDLESS, *FOR_SEARCHING}
    return SCRIPT.sub(lambda found: "" if found[1] in needless else found[0], html)
