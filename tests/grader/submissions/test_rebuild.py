"""The student's answers come back in the released places, whatever was done to the notebook."""

import copy

import handed_in
import pytest

from course_grader.released_notebook import load_releases
from course_grader.submissions.notebook import parse
from course_grader.submissions.rebuild import SubmittedCell, rebuild

DOT = "def dot(a, b):\n    return (a * b).sum()"
STUB = "def dot(a, b):\n    # YOUR CODE HERE\n    raise NotImplementedError"
CHECK = ("check", 'check("1.1", dot)')


@pytest.fixture(scope="module")
def released(root):
    return load_releases(root / "exercises", "01")["01"]


def submitted(notebook):
    return parse(handed_in.as_bytes(notebook))[0]


def steps(released, cells):
    return [(step.role, step.number, step.text) for step in rebuild(released, cells).steps]


def test_what_was_handed_out_comes_back_as_it_is(released):
    rebuilt = rebuild(released, submitted(handed_in.solved()))
    assert rebuilt.noticed == () and not rebuilt.missing
    checks = [(step.number, step.text[: len(step.number) + 8]) for step in rebuilt.steps if step.role == "check"]
    assert checks == [(number, f'check("{number}"') for number in handed_in.POINTS_01]


def test_every_answer_stands_before_its_probe(released):
    notebook = handed_in.solved()
    straight = steps(released, submitted(notebook))
    notebook["cells"].reverse()
    assert steps(released, submitted(notebook)) == straight
    assert "reordered" in rebuild(released, submitted(notebook)).noticed[0]


@pytest.mark.parametrize("lose", ["id", "id and metadata", "id, metadata and headings"])
def test_answers_are_found_without_their_ids(released, lose):
    notebook = handed_in.solved()
    straight = steps(released, submitted(notebook))
    for cell in notebook["cells"]:
        cell["id"] = ""
        if "metadata" in lose:
            cell["metadata"] = {}
        if "headings" in lose and cell["cell_type"] == "markdown":
            cell["source"] = "gone"
    assert steps(released, submitted(notebook)) == straight


def test_an_extra_cell_keeps_its_place(released):
    notebook = handed_in.with_cell(handed_in.solved(), "x = 1", before="answer-1-2")
    order = steps(released, submitted(notebook))
    place = order.index(("extra", "", "x = 1"))
    assert order[place - 1][:2] == ("check", "1.1") and order[place + 1][:2] == ("answer", "1.2")


def test_a_copied_answer_with_the_same_mark_runs_after_the_first(released):
    notebook = handed_in.blank()
    place = handed_in.position(notebook, "answer-1-1")
    second = copy.deepcopy(notebook["cells"][place]) | {"id": "new", "source": "def dot(a, b):\n    return a @ b"}
    notebook["cells"].insert(place + 1, second)
    notebook["cells"][place]["source"] = "def dot(a, b):\n    return a"
    order = steps(released, submitted(notebook))
    place = order.index(("extra", "", second["source"]))
    assert order[place - 1][:2] == ("answer", "1.1") and order[place + 1][:2] == ("check", "1.1")


def test_changed_given_cells_run_after_the_original(released):
    notebook = handed_in.solved()
    setup = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    original, setup["source"] = setup["source"], "import math"
    rebuilt = rebuild(released, submitted(notebook))
    assert [step.text for step in rebuilt.steps[:2]] == [original, "import math"]
    edited = "the page's cell that begins with `from sys import executable, modules` was edited; the original ran"
    assert rebuilt.noticed == (edited,)


@pytest.mark.parametrize(("ends", "end"), [("\r\n", ""), ("  \n", ""), ("\n", "\n\n")])
def test_line_ends_and_trailing_blanks_are_no_change(released, ends, end):
    notebook = handed_in.solved()
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].replace("\n", ends) + end
    rebuilt = rebuild(released, submitted(notebook))
    assert rebuilt.noticed == () and {step.role for step in rebuilt.steps} == {"provided", "answer", "check"}


def test_a_missing_answer_is_missing_and_its_check_runs(released):
    notebook = handed_in.solved()
    notebook["cells"].pop(handed_in.position(notebook, "answer-1-2"))
    rebuilt = rebuild(released, submitted(notebook))
    assert rebuilt.missing == {"1.2"} and "1.2" in {step.number for step in rebuilt.steps if step.role == "check"}
    empty = rebuild(released, [])
    assert empty.missing == set(handed_in.POINTS_01) and len(empty.noticed) == len(released.cells)


def test_a_claimed_id_counts_once(released):
    cells = [*submitted(handed_in.solved()), SubmittedCell("code", "dot = None", "answer-1-1", "answer-1-1")]
    rebuilt = rebuild(released, cells)
    assert [step.number for step in rebuilt.steps if step.role == "answer"] == list(handed_in.POINTS_01)
    assert rebuilt.steps[-1].text == "dot = None" and "twice" in rebuilt.noticed[0]


def test_a_copy_of_a_cell_as_it_is_needs_no_word(released):
    cells = submitted(handed_in.solved())
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
    order = steps(released, submitted(notebook))
    assert (("answer", "1.1", "dot = my_dot") in order) == (not also)
    if not also:
        assert order.index(("answer", "1.1", "dot = my_dot")) < order.index(("check", "1.1", 'check("1.1", dot)'))


def test_an_answer_found_elsewhere_is_not_called_missing(released):
    """Two answers in one cell."""
    cells = submitted(handed_in.solved())
    both = [cell for cell in cells if cell.id in ("answer-1-1", "answer-1-2")]
    together = SubmittedCell("code", "\n\n\n".join(cell.text for cell in both))
    rebuilt = rebuild(released, [together, *(cell for cell in cells if cell not in both)])
    assert not rebuilt.missing and "your answer to 1.2 was found in another cell" in rebuilt.noticed
    assert not any("missing" in line for line in rebuilt.noticed)


def moved(released, text, change, **answers):
    """The roles around the probe of 1.1, where ``change`` has put ``text`` into the notebook."""
    notebook = handed_in.solved(**answers)
    change(notebook["cells"], text)
    rebuilt = rebuild(released, submitted(notebook))
    kept = [step for step in rebuilt.steps if step.number == "1.1" or step.text == text]
    return [(step.role, step.text) for step in kept if step.role != "check" or step.number == "1.1"], rebuilt


def insert_at(name, offset=0):
    def change(cells, text):
        cells.insert(handed_in.position({"cells": cells}, name) + offset, handed_in.code(text))

    return change


def into(name):
    def change(cells, text):
        cells[handed_in.position({"cells": cells}, name)]["source"] = text

    return change


@pytest.mark.parametrize(
    ("cell", "offset"), [("answer-1-1", 0), ("answer-1-1", 1), ("check-1-1", 1), ("check-1-3", 1), ("check-1-8", 1)]
)
@pytest.mark.parametrize("own", [STUB, STUB + "  # later", "", "# nothing", "dott = 1"])
def test_an_answer_in_another_cell_is_found_where_its_own_is_as_handed_out(released, cell, offset, own):
    order, rebuilt = moved(released, DOT, insert_at(cell, offset), answer_1_1=own)
    assert [role for role, text in order if role == "check" or text == DOT] == ["answer", "check"]
    assert STUB not in {text for _, text in order}
    assert rebuilt.noticed[-1] == "your answer to 1.1 was found in another cell"
    assert DOT in rebuilt.answer("1.1") and rebuilt.missing == set()


@pytest.mark.parametrize("text", [DOT + '\n\ncheck("1.1", dot)', 'check("1.1", dot)\n' + DOT])
def test_an_answer_in_the_checks_own_cell_is_found(released, text):
    order, rebuilt = moved(released, text, into("check-1-1"), answer_1_1=STUB)
    assert order == [("answer", text), CHECK] and rebuilt.answer("1.1") == text
    assert rebuilt.noticed == (
        "the check of 1.1 was edited; the original ran",
        "your answer to 1.1 was found in another cell",
    )


def test_what_stands_below_a_check_does_not_count_where_there_is_an_answer(released):
    order, rebuilt = moved(released, "dot = None", insert_at("check-1-1", 1), answer_1_1=DOT)
    assert order == [("answer", DOT), CHECK, ("extra", "dot = None")] and rebuilt.noticed == ()


def test_nothing_written_stays_as_it_was_handed_out(released):
    rebuilt = rebuild(released, submitted(handed_in.blank()))
    assert rebuilt.noticed == () and not rebuilt.elsewhere and len(rebuilt.steps) == len(released.cells)


def test_of_two_answers_below_a_check_the_one_before_the_next_check_counts(released):
    notebook = handed_in.solved(answer_1_1=STUB)
    notebook = handed_in.with_cell(notebook, "dot = None", before="check-1-8")
    notebook["cells"].insert(handed_in.position(notebook, "check-1-1") + 1, handed_in.code(DOT))
    assert rebuild(released, submitted(notebook)).answer("1.1").endswith(DOT)
