"""Sphinx extension: alternative texts of the notebooks' figures, and scripts where there is something for them to do."""

import base64
import hashlib
from pathlib import Path, PurePosixPath
from typing import Any

import nbformat
from docutils import nodes
from sphinx.application import Sphinx

SCRIPTS = {
    "course-widget": "course_widgets.js",
    "data-predict=": "predictions.js",
    "data-try=": "try_it.js",
}  # what stands on the page -> its script


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("doctree-read", give_alternative_texts)
    app.connect("html-page-context", add_script)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def give_alternative_texts(app: Sphinx, doctree: nodes.document) -> None:
    """Each figure of a notebook says to those who cannot see it what its output's metadata says."""
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb":
        return
    texts = alternative_texts(nbformat.read(path, as_version=4))
    for image in doctree.findall(nodes.image):
        text = texts.get(PurePosixPath(image["uri"]).stem)
        if text:
            image["alt"] = text


def alternative_texts(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """SHA-256 of a figure, which is the name that MyST-NB gives its file -> alternative text."""
    texts = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            for mime_type, details in output.get("metadata", {}).items():
                if mime_type in output.get("data", {}) and isinstance(details, dict) and "alt" in details:
                    texts[hashlib.sha256(base64.b64decode(output.data[mime_type])).hexdigest()] = details["alt"]
    return texts


def add_script(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None) -> None:
    """Pages without moving pictures or questions load nothing for them."""
    html = [raw.astext() for raw in doctree.findall(nodes.raw)] if doctree is not None else []
    for mark, script in SCRIPTS.items():
        if any(mark in text for text in html):
            app.add_js_file(script, type="module")
