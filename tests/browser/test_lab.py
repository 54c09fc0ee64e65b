"""Every lesson and its exercises in a real JupyterLab: run whole, every widget moved, an exercise wrong and then right."""

import json
import re
import statistics

import nbformat
import pytest
from lab import PICTURES, ROOT, Lab, Notebook, serving
from recorded_answers import recorded_answers

pytestmark = pytest.mark.needs("browser")
LESSONS = [path.stem for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))]
# What runs and what a check says is tested without a browser; hence these here, and all in `make test-lab`.
SAMPLE = [name if name[:2] in ("00", "04", "15") else pytest.param(name, marks=pytest.mark.slow) for name in LESSONS]
GREEN = "1a7f37"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("lab")) as running:
        yield running
        log = running.log.read_text(encoding="utf-8")
    # A callback that fails has no cell: what it says goes to the server's terminal.
    assert "Traceback" not in log, log[log.index("Traceback") - 500 :][:3000]


@pytest.fixture(scope="module")
def lab(chromium, server):
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    yield Lab(context, server)
    context.close()


@pytest.fixture
def opened(lab):
    """Open one notebook; at the end nothing may have gone wrong in it."""
    notebooks = []

    def open_(path):
        notebooks.append(Notebook(lab, path))
        notebooks[-1].dress(dark=False, width=1280)
        return notebooks[-1]

    del lab.problems[:], lab.other_errors[:]
    yield open_
    for notebook in notebooks:
        notebook.close()
    assert lab.problems == []


def keep_notes(lesson, rows, notes):
    """What was measured and noticed, in ``notes-<lesson>.txt`` beside the pictures; never a reason to fail."""
    rows = [("widget", "controls that change it", "median ms", "slowest ms"), *rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(t.ljust(width) for t, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    (PICTURES / f"notes-{lesson}.txt").write_text("\n".join([*lines, *notes]) + "\n", encoding="utf-8")


def wrong_outputs(outputs):
    """Errors, and what comes on standard error."""
    return [
        (cell, output.get("ename"), "".join(output.get("text", ""))[:200])
        for cell, cell_outputs in outputs.items()
        for output in cell_outputs
        if output["output_type"] == "error" or output.get("name") == "stderr"
    ]


@pytest.mark.parametrize("lesson", [*SAMPLE, "quick_tour"])
def test_a_lesson_runs_whole_and_its_widgets_answer(opened, lab, lesson):
    notebook = opened(f"notebooks/{lesson}.ipynb")
    # JupyterLab says of a run of all that it is over at the first error, and the tour's tasks are not yet answered.
    one_by_one = lesson == "quick_tour"
    notebook.run(*(cell["id"] for cell in notebook.page.evaluate("lab.outputs()") if one_by_one))
    wrong = [problem for problem in wrong_outputs(notebook.outputs()) if problem[1] != "NotYet"]  # tasks of the tour
    assert (wrong, notebook.never_ran()) == ([], [])
    page = notebook.page
    dialogs = page.locator(".jp-Dialog").all_inner_texts()
    widgets, dead = page.evaluate("lab.widgets()"), []
    for index, widget in enumerate(widgets):
        page.locator(f"[data-seen='{index}']").scroll_into_view_if_needed()
        if widget["height"] < 20 or "rror displaying" in widget["text"] or widget["text"].startswith("Loading"):
            dead.append((widget["name"], widget["text"][:200]))
    cut = page.evaluate("lab.cut()")
    long_lines = page.evaluate("lab.long_lines()")
    unnamed = page.locator(".widget-slider [role=slider]:not([aria-label])").count()
    notebook.picture("light-1280")
    rows = []
    for index, widget in enumerate(widgets):
        times = notebook.move(index)
        seen = [time for time in times if time is not None]
        name = " ".join(widget["name"].strip("[]").split(" Run this cell")[0].split())[:60]
        shown = (f"{statistics.median(seen):.0f}", f"{max(seen):.0f}") if seen else ("", "")
        rows.append((name, f"{len(seen)} of {len(times)}", *shown))
        problem = page.locator(f"[data-seen='{index}'] pre").filter(has_text="Error:").all_inner_texts()
        if problem or (times and not seen):
            dead.append((widget["name"], problem or "no control changes it"))
        notebook.picture(f"light-1280-widget-{index}", index)
    cut += [line for line in page.evaluate("lab.cut()") if line not in cut]
    drawn = [index for index, widget in enumerate(widgets) if widget["name"].startswith("[interactive")]
    first = drawn[0] if drawn else None
    for dark, width in ((True, 1280), (True, 1920), (False, 1920)):
        notebook.dress(dark=dark, width=width)
        notebook.picture(f"{'dark' if dark else 'light'}-{width}", first)
    notes = [f"code wider than its cell at 1280: {long_lines}", f"JupyterLab's own errors: {lab.other_errors}"]
    keep_notes(lesson, rows, notes)
    assert (dialogs, dead, cut, unnamed) == ([], [], [], 0)


def wrong_and_right(lesson):
    """Of each exercise of which a wrong answer is recorded: its number, that answer, what it does, and the right one."""
    solution = nbformat.read(ROOT / "solutions" / f"{lesson}.ipynb", 4)
    right = {cell.id: cell.source for cell in solution.cells}
    answers = []
    for cell in solution.cells:
        if "check" in cell.metadata.get("tags", ()):
            number = cell.id.removeprefix("check-").replace("-", ".")
            wrong = next((answer for answer in recorded_answers(number) if not answer.is_right), None)
            if wrong is not None:
                answers.append((number, wrong.text.strip(), wrong.about, right[f"answer-{number.replace('.', '-')}"]))
    return answers


def message_of(output):
    if output["output_type"] == "error":
        return re.sub("\x1b\\[[0-9]+m", "", "\n".join(output["traceback"]))  # bold or not
    return "".join(output["data"]["text/plain"])


@pytest.mark.parametrize("lesson", SAMPLE)
def test_every_exercise_is_answered_wrong_and_then_right(opened, server, lesson):
    notebook = opened(f"exercises/{lesson}.ipynb")
    cells = nbformat.read(ROOT / "exercises" / f"{lesson}.ipynb", 4).cells
    asked = {cell.id for cell in cells if {"exercise", "quiz", "check"} & set(cell.metadata.get("tags", ()))}
    waiting = [cell.id for cell in cells if cell.cell_type == "code"]
    for number, wrong, about, right in wrong_and_right(lesson):
        place = number.replace(".", "-")
        index = waiting.index(f"answer-{place}")
        before = [name for name in waiting[:index] if name not in asked]
        waiting = waiting[index:]
        if before:
            notebook.run(*before)
        for answer, is_right in ((wrong, False), (right, True)):
            write_and_check(notebook, place, answer, about)
            shown = notebook.page.locator(".jp-CodeCell").filter(has_text=f'check("{number}"')
            shown = shown.locator(".jp-OutputArea-output")
            message = [message_of(output) for output in notebook.outputs()[f"check-{place}"]][0]
            expect_message(message, is_right, number, about, shown)
            kept = json.loads(server.progress.read_text(encoding="utf-8")) if server.progress.is_file() else {}
            assert (number in kept.get("passed", {})) == is_right
            notebook.picture(f"exercise-{place}-{'right' if is_right else 'wrong'}")


def write_and_check(notebook, place, answer, about):
    """Write an answer into its cell, run that and its check."""
    notebook.page.evaluate("([id, text]) => lab.write(id, text)", [f"answer-{place}", answer])
    notebook.run(f"answer-{place}")
    assert wrong_outputs({"answer": notebook.outputs()[f"answer-{place}"]}) == [], about
    notebook.run(f"check-{place}")


def expect_message(message, is_right, number, about, shown):
    """Green with its points, or what differs, without a traceback; and the page shows it."""
    shown.first.scroll_into_view_if_needed()
    assert bool(shown.locator(f"div[style*='{GREEN}']").count()) == is_right, about
    if is_right:
        assert message.startswith(f"✓ {number} right"), about
    else:
        assert message.startswith(f"{number} not yet · 0 of "), about
        assert len(message.splitlines()) > 1 and "Traceback" not in message and "Try:" not in message
        assert message.splitlines()[1] in " ".join(shown.first.inner_text().split("\n")), about
