"""The student's answers come back in the released places, whatever was done to the notebook."""

import copy
import time

import handed_in
import pytest

from course_grader.released_notebook import parse
from course_grader.submissions.rebuild import SubmittedCell, rebuild


@pytest.fixture(scope="module")
def released(root):
    return parse(handed_in.LESSON_01, (root / "exercises" / f"{handed_in.LESSON_01}.ipynb").read_bytes())


def submitted_cells(notebook):
    found = []
    for cell in notebook["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        found.append(SubmittedCell(cell["cell_type"], "".join(cell["source"]), cell.get("id", ""), grade_id))
    return found


def steps(released, cells):
    return [(step.role, step.number, step.text) for step in rebuild(released, cells).steps]


def test_what_was_handed_out_comes_back_as_it_is(released):
    found = rebuild(released, submitted_cells(handed_in.solved()))
    assert found.noticed == () and not found.missing
    assert [step.number for step in found.steps if step.role == "check"] == list(handed_in.POINTS_01)
    for step in found.steps:
        if step.role == "check":
            assert step.text.startswith(f'check("{step.number}"')


def test_every_answer_stands_before_its_probe(released):
    notebook = handed_in.solved()
    straight = steps(released, submitted_cells(notebook))
    notebook["cells"].reverse()
    assert steps(released, submitted_cells(notebook)) == straight
    assert "reordered" in rebuild(released, submitted_cells(notebook)).noticed[0]


@pytest.mark.parametrize("lose", ["id", "id and metadata", "id, metadata and headings"])
def test_answers_are_found_without_their_ids(released, lose):
    notebook = handed_in.solved()
    straight = steps(released, submitted_cells(notebook))
    for cell in notebook["cells"]:
        cell["id"] = ""
        if "metadata" in lose:
            cell["metadata"] = {}
        if "headings" in lose and cell["cell_type"] == "markdown":
            cell["source"] = "gone"
    assert steps(released, submitted_cells(notebook)) == straight


def test_an_extra_cell_keeps_its_place(released):
    notebook = handed_in.with_cell(handed_in.solved(), "x = 1", before="answer-1-2")
    found = steps(released, submitted_cells(notebook))
    place = found.index(("extra", "", "x = 1"))
    assert found[place - 1][:2] == ("check", "1.1") and found[place + 1][:2] == ("answer", "1.2")


def test_a_copied_answer_with_the_same_mark_runs_after_the_first(released):
    notebook = handed_in.blank()
    place = handed_in.position(notebook, "answer-1-1")
    second = copy.deepcopy(notebook["cells"][place]) | {"id": "new", "source": "def dot(a, b):\n    return a @ b"}
    notebook["cells"].insert(place + 1, second)
    notebook["cells"][place]["source"] = "def dot(a, b):\n    return a"
    found = steps(released, submitted_cells(notebook))
    place = found.index(("extra", "", second["source"]))
    assert found[place - 1][:2] == ("answer", "1.1") and found[place + 1][:2] == ("check", "1.1")


def test_changed_given_cells_run_after_the_original(released):
    notebook = handed_in.solved()
    setup = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    original, setup["source"] = "".join(setup["source"]), "import math"
    found = rebuild(released, submitted_cells(notebook))
    assert [step.text for step in found.steps[:2]] == [original, "import math"]
    said = "the page's cell that begins with `from sys import executable, modules` was edited; the original ran"
    assert found.noticed == (said,)


@pytest.mark.parametrize("change", ["\r\n", "  \n", "\n\n"])
def test_line_ends_and_trailing_blanks_are_no_change(released, change):
    notebook = handed_in.solved()
    for cell in notebook["cells"]:
        ends = change if change != "\n\n" else "\n"
        cell["source"] = "".join(cell["source"]).replace("\n", ends) + (change if change == "\n\n" else "")
    found = rebuild(released, submitted_cells(notebook))
    assert found.noticed == () and {step.role for step in found.steps} == {"provided", "answer", "check"}


def test_a_missing_answer_is_missing_and_its_check_runs(released):
    notebook = handed_in.solved()
    notebook["cells"].pop(handed_in.position(notebook, "answer-1-2"))
    found = rebuild(released, submitted_cells(notebook))
    assert found.missing == {"1.2"} and "1.2" in {step.number for step in found.steps if step.role == "check"}


def test_an_empty_notebook(released):
    found = rebuild(released, [])
    assert found.missing == set(handed_in.POINTS_01) and len(found.noticed) == sum(1 for _ in released.cells)


def test_a_claimed_id_counts_once(released):
    cells = [*submitted_cells(handed_in.solved()), SubmittedCell("code", "dot = None", "answer-1-1", "answer-1-1")]
    found = rebuild(released, cells)
    assert [step.number for step in found.steps if step.role == "answer"] == list(handed_in.POINTS_01)
    assert found.steps[-1].text == "dot = None" and "twice" in found.noticed[0]


def test_a_copy_of_a_cell_as_it_is_needs_no_word(released):
    cells = submitted_cells(handed_in.solved())
    assert rebuild(released, cells + cells).noticed == ()
    changed = [
        SubmittedCell(cell.kind, cell.text + "\n1", cell.id, cell.grade_id) for cell in cells if cell.id == "answer-1-1"
    ]
    assert rebuild(released, cells + changed).noticed == ("the answer cell of 1.1 occurs twice; the first counts",)


@pytest.mark.parametrize("also", ["", "\n\ndot = None"])
def test_a_check_of_another_name(released, also):
    """What the student's own check looked at is the answer, unless something has the name that was asked for."""
    notebook = handed_in.solved(answer_1_1="def my_dot(a, b):\n    return (a * b).sum()" + also)
    notebook["cells"][handed_in.position(notebook, "check-1-1")]["source"] = 'check("1.1", my_dot)'
    found = steps(released, submitted_cells(notebook))
    assert (("answer", "1.1", "dot = my_dot") in found) == (not also)
    if not also:
        assert found.index(("answer", "1.1", "dot = my_dot")) < found.index(("check", "1.1", 'check("1.1", dot)'))


def test_an_answer_found_elsewhere_is_not_called_missing(released):
    """Two answers in one cell."""
    cells = submitted_cells(handed_in.solved())
    both = [cell for cell in cells if cell.id in ("answer-1-1", "answer-1-2")]
    together = SubmittedCell("code", "\n\n\n".join(cell.text for cell in both))
    found = rebuild(released, [together, *(cell for cell in cells if cell not in both)])
    assert not found.missing and "your answer to 1.2 was found in another cell" in found.noticed
    assert not any("missing" in line for line in found.noticed)


DOT = "def dot(a, b):\n    return (a * b).sum()"


def moved(released, text, change, **answers):
    """The roles around the probe of 1.1, where ``change`` has put ``text`` into the notebook."""
    notebook = handed_in.solved(**answers)
    change(notebook["cells"], text)
    found = rebuild(released, submitted_cells(notebook))
    kept = [step for step in found.steps if step.number == "1.1" or step.text == text]
    return [(step.role, step.text) for step in kept if step.role != "check" or step.number == "1.1"], found


def insert_at(name, offset=0):
    def change(cells, text):
        cells.insert(handed_in.position({"cells": cells}, name) + offset, handed_in.code(text))

    return change


def into(name):
    def change(cells, text):
        cells[handed_in.position({"cells": cells}, name)]["source"] = text

    return change


STUB = "def dot(a, b):\n    # YOUR CODE HERE\n    raise NotImplementedError"
CHECK = ("check", 'check("1.1", dot)')


@pytest.mark.parametrize(
    ("change", "order"),
    [
        (insert_at("answer-1-1"), ["answer", "check"]),
        (insert_at("answer-1-1", 1), ["answer", "check"]),
        (insert_at("check-1-1", 1), ["answer", "check"]),
        (insert_at("check-1-3", 1), ["answer", "check"]),
        (insert_at("check-1-8", 1), ["answer", "check"]),
    ],
)
@pytest.mark.parametrize("own", [STUB, STUB + "  # later", "", "# nothing", "dott = 1"])
def test_an_answer_in_another_cell_is_found_where_its_own_is_as_handed_out(released, change, order, own):
    found, rebuilt = moved(released, DOT, change, answer_1_1=own)
    assert [role for role, _ in found if role == "check" or _ == DOT] == order
    assert STUB not in {text for _, text in found}
    assert rebuilt.noticed[-1] == "your answer to 1.1 was found in another cell"
    assert DOT in rebuilt.answer("1.1") and rebuilt.missing == set()


@pytest.mark.parametrize("text", [DOT + '\n\ncheck("1.1", dot)', 'check("1.1", dot)\n' + DOT])
def test_an_answer_in_the_checks_own_cell_is_found(released, text):
    found, rebuilt = moved(released, text, into("check-1-1"), answer_1_1=STUB)
    assert found == [("answer", text), CHECK] and rebuilt.answer("1.1") == text
    assert rebuilt.noticed == (
        "the check of 1.1 was edited; the original ran",
        "your answer to 1.1 was found in another cell",
    )


def test_what_stands_below_a_check_does_not_count_where_there_is_an_answer(released):
    found, rebuilt = moved(released, "dot = None", insert_at("check-1-1", 1), answer_1_1=DOT)
    assert found == [("answer", DOT), CHECK, ("extra", "dot = None")] and rebuilt.noticed == ()


def test_all_answers_in_one_cell(released):
    notebook = handed_in.blank()
    notebook["cells"].append(handed_in.code(DOT + "\ndef cosine(a, b):\n    return 0"))
    found = rebuild(released, submitted_cells(notebook))
    numbers = [(step.role, step.number) for step in found.steps]
    assert numbers[-3:] == [("answer", "1.1"), ("check", "1.2"), ("check", "1.1")]
    assert found.answer("1.2") == found.answer("1.1") != ""


def test_nothing_written_stays_as_it_was_handed_out(released):
    found = rebuild(released, submitted_cells(handed_in.blank()))
    assert found.noticed == () and not found.elsewhere and len(found.steps) == len(released.cells)


@pytest.mark.parametrize("text", ["\n" * 150_000, "#\n" * 70_000, "check(\n" * 20_000, "dot\n" * 30_000])
def test_no_text_takes_long(released, text):
    cells = [SubmittedCell(kind, text) for kind in ("code", "markdown", "code")]
    started = time.perf_counter()
    rebuild(released, cells)
    assert time.perf_counter() - started < 30
