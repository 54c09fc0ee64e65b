"""Files as editors, graders, other systems and students leave them; the answers are the course's own."""

import json
import random
import uuid

import handed_in

from .honest_notebook import STEMS, add, codes, find, honest

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


def without_ids(notebook: dict, minor: int) -> None:
    """As editors write that know no cell ids: formats 4.0 to 4.4."""
    notebook["nbformat_minor"] = minor
    for cell in notebook["cells"]:
        del cell["id"]


def without_marks(notebook: dict) -> None:
    """No word of nbgrader's, and no tags."""
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def other_ids(notebook: dict) -> None:
    """Every cell gets an id that the course did not give."""
    draw = random.Random(0)
    for cell in notebook["cells"]:
        cell["id"] = uuid.UUID(int=draw.getrandbits(128)).hex[:8]


def colab_marks(notebook: dict) -> None:
    """What Colab writes: its own ids among the metadata, where the output came from, no ids of format 4.5."""
    notebook["metadata"] = {
        "colab": {"provenance": [], "toc_visible": True},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
    }
    other_ids(notebook)
    for cell in notebook["cells"]:
        cell["metadata"]["id"] = cell["id"] + "XyZ_"
        if cell["cell_type"] == "code":
            cell["metadata"] |= {"outputId": str(uuid.UUID(int=7)), "colab": {"base_uri": "https://localhost:8080/"}}
            cell["metadata"]["cellView"] = "form"
    without_ids(notebook, 0)


@honest("03", quick=True)
def colab(notebook):
    """nbgrader's metadata are kept."""
    colab_marks(notebook)


@honest("02")
def colab_alone(notebook):
    """A copy made in Colab: nothing of the course's metadata is left."""
    without_marks(notebook)
    colab_marks(notebook)


@honest("04")
def vs_code(notebook):
    other_ids(notebook)
    notebook["metadata"] = {
        "kernelspec": {"display_name": ".venv (3.12.3)", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "version": "3.12.3", "mimetype": "text/x-python", "file_extension": ".py"},
    }
    for cell in notebook["cells"]:
        cell["metadata"] |= {"vscode": {"languageId": "python" if cell["cell_type"] == "code" else "markdown"}}
        cell["source"] = cell["source"].splitlines(keepends=True)


@honest("05")
def nbgrader_autograded(notebook):
    """Locked cells with checksums; tests and comments of its own in between."""
    marks = {"schema_version": 3, "task": False, "checksum": "0" * 32}
    for cell in codes(notebook):
        cell["metadata"] |= {"deletable": False, "editable": False}
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"] |= marks | {"cell_type": "code"}
    hidden = handed_in.code("assert padding_mask(torch.tensor([[1, 0]]), 0).shape == (1, 1, 1, 2)", "cell-1f2e3d")
    hidden["metadata"] = {"nbgrader": {"grade_id": "hidden", "grade": True, "points": 1, "locked": True, **marks}}
    notebook["cells"].insert(handed_in.position(notebook, "check-5-1") + 1, hidden)


@honest("06")
def jupyterlab(notebook):
    """Slides, folded cells, times of execution, widgets' state."""
    when = {"iopub.execute_input": "2026-11-22T09:00:00Z", "shell.execute_reply": "2026-11-22T09:00:01Z"}
    notebook["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}, "version_major": 2}}
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"] |= {
            "slideshow": {"slide_type": "slide"},
            "jp-MarkdownHeadingCollapsed": True,
            "editable": True,
        }
        if cell["cell_type"] == "code":
            cell["execution_count"] = 99 - number
            cell["metadata"] |= {"execution": when, "collapsed": True, "scrolled": False}
            cell["metadata"]["jupyter"] = {"source_hidden": True, "outputs_hidden": True}


@honest("07")
def outputs_kept(notebook):
    """As saved after a run: text, a picture, a warning, an error, a widget."""
    for cell in codes(notebook):
        cell["outputs"] = [
            {"output_type": "stream", "name": "stderr", "text": ["UserWarning: a warning\n"]},
            {"output_type": "display_data", "data": {"image/png": PICTURE, "text/html": "<b>1</b>"}, "metadata": {}},
            {"output_type": "execute_result", "execution_count": 3, "data": {"text/plain": "14"}, "metadata": {}},
            {"output_type": "error", "ename": "NotYet", "evalue": "", "traceback": ["\x1b[31mNotYet\x1b[0m"]},
        ]


@honest("08", quick=True)
def ids_lost(notebook):
    without_ids(notebook, 4)


@honest("09")
def ids_and_marks_lost(notebook):
    """As after a round trip through another format of notebooks."""
    without_marks(notebook)
    without_ids(notebook, 2)


@honest("10")
def ids_changed(notebook):
    other_ids(notebook)


@honest("11")
def ids_changed_and_marks_lost(notebook):
    without_marks(notebook)
    other_ids(notebook)


@honest("12")
def raw_and_attached(notebook):
    """A raw cell, a pasted picture, fields that the format does not know."""
    notebook["cells"].insert(0, {"cell_type": "raw", "id": "raw-1", "metadata": {}, "source": ["---\n", "title: x\n"]})
    notebook["cells"][1]["attachments"] = {"image.png": {"image/png": PICTURE}}
    notebook["papermill"] = {"version": "2.6"}


@honest("00", quick=True)
def file_of_windows(notebook):
    """A byte order mark, which Jupyter refuses and editors on Windows write; CRLF in the file and in every cell."""
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].replace("\n", "\r\n")
    return b"\xef\xbb\xbf" + json.dumps(notebook, indent=1).replace("\n", "\r\n").encode()


@honest()
def old_line_ends(notebook):
    for cell in codes(notebook):
        cell["source"] = cell["source"].replace("\n", "\r\n").split("\r\n")
        cell["source"] = [line + "\r\n" for line in cell["source"]]


@honest()
def not_ascii(notebook):
    """Letters as they are instead of escapes, the file indented."""
    notebook["metadata"]["authors"] = [{"name": "李小龙"}, {"name": "محمد"}]
    return json.dumps(notebook, indent=4, ensure_ascii=False).encode()


@honest()
def trailing_blanks(notebook):
    for cell in notebook["cells"]:
        cell["source"] = "\n\n" + cell["source"].replace("\n", "   \n") + "  \n\n\n"


@honest(restored=True)
def tabs(notebook):
    for cell in codes(notebook):
        cell["source"] = cell["source"].replace("    ", "\t")


@honest()
def lines_of_their_own(notebook):
    """Sources as lists of lines, the last with its end."""
    for cell in notebook["cells"]:
        cell["source"] = (cell["source"] + "\n").splitlines(keepends=True)


@honest(restored=True, quick=True)
def moved(notebook):
    """Exercise 1.5 before exercise 1.3; each stays whole."""
    cells = notebook["cells"]
    start, end = (
        handed_in.position(notebook, "1-5-nearest-neighbors-1"),
        handed_in.position(notebook, "1-6-word-vectors-from-a-text-1"),
    )
    block, cells[start:end] = cells[start:end], []
    place = next(i for i, cell in enumerate(cells) if cell["id"].startswith("1-3-distances"))
    cells[place:place] = block


@honest(restored=True)
def everything_twice(notebook):
    notebook["cells"] += [cell | {"id": cell["id"] + "-2"} for cell in notebook["cells"]]


@honest(restored=True)
def everything_twice_with_the_same_ids(notebook):
    notebook["cells"] += notebook["cells"]


@honest(restored=True)
def a_stub_below(notebook):
    """The empty answer cell was copied before it was filled in, and the copy, never run, was left at the end as text."""
    stub = find(handed_in.blank(), "answer-1-1")
    notebook["cells"].append(stub | {"cell_type": "markdown", "id": "copy"})


@honest(restored=True)
def pages_deleted(notebook):
    """Only code is left, and not the cell for Colab."""
    notebook["cells"] = [cell for cell in codes(notebook) if cell["id"] != "colab-install"]


@honest()
def long(notebook):
    """Five hundred cells of notes."""
    for number in range(500):
        notes = {
            "cell_type": "markdown",
            "id": f"note-{number}",
            "metadata": {},
            "source": f"### Note {number} 😀\n1.{number}",
        }
        notebook["cells"].insert(2 * number % len(notebook["cells"]), notes)


@honest(restored=True, lacks=frozenset({"1.4"}))
def older_release(notebook):
    """One exercise fewer, another setup cell, another text, other words."""
    gone = [cell for cell in notebook["cells"] if cell["id"].startswith(("1-4-", "answer-1-4", "check-1-4"))]
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in gone]
    setup = next(cell for cell in codes(notebook) if "setup" in cell["metadata"].get("tags", ()))
    setup["source"] = "import math\n\n" + setup["source"]
    chosen = find(notebook, "1-6-word-vectors-from-a-text-4")
    chosen["source"] = chosen["source"].replace("n >= 10", "n >= 12")


def _as_it_is(notebook: dict) -> None:
    pass


add("renamed", "01", _as_it_is, label="../Hausaufgabe 1 (final) (2) – Kopie 李.ipynb")
add("named_as_another_lesson", "01", _as_it_is, label=f"{STEMS['05']}.ipynb")
