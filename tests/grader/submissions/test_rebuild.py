"""The student's answers come back in the master's places, whatever was done to the notebook."""

import copy
import time

import handed_in
import pytest

from course_grader.master import parse
from course_grader.submissions.rebuild import Handed, rebuild


@pytest.fixture(scope="module")
def master(root):
    return parse(handed_in.LESSON_01, (root / "exercises" / f"{handed_in.LESSON_01}.ipynb").read_bytes())


def handed(notebook):
    found = []
    for cell in notebook["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        found.append(Handed(cell["cell_type"], "".join(cell["source"]), cell.get("id", ""), grade_id))
    return found


def steps(master, cells):
    return [(step.role, step.number, step.text) for step in rebuild(master, cells).steps]


def test_what_was_handed_out_comes_back_as_it_is(master):
    found = rebuild(master, handed(handed_in.solved()))
    assert found.noticed == () and not found.missing
    assert [step.number for step in found.steps if step.role == "probe"] == list(handed_in.POINTS_01)
    for step in found.steps:
        if step.role == "probe":
            assert step.text.startswith(f'check("{step.number}"')


def test_every_answer_stands_before_its_probe(master):
    notebook = handed_in.solved()
    straight = steps(master, handed(notebook))
    notebook["cells"].reverse()
    assert steps(master, handed(notebook)) == straight
    assert "reordered" in rebuild(master, handed(notebook)).noticed[0]


@pytest.mark.parametrize("lose", ["id", "id and metadata", "id, metadata and headings"])
def test_answers_are_found_without_their_ids(master, lose):
    notebook = handed_in.solved()
    straight = steps(master, handed(notebook))
    for cell in notebook["cells"]:
        cell["id"] = ""
        if "metadata" in lose:
            cell["metadata"] = {}
        if "headings" in lose and cell["cell_type"] == "markdown":
            cell["source"] = "gone"
    assert steps(master, handed(notebook)) == straight


def test_an_extra_cell_keeps_its_place(master):
    notebook = handed_in.with_cell(handed_in.solved(), "x = 1", before="answer-1-2")
    found = steps(master, handed(notebook))
    place = found.index(("extra", "", "x = 1"))
    assert found[place - 1][:2] == ("probe", "1.1") and found[place + 1][:2] == ("answer", "1.2")


def test_a_copied_answer_with_the_same_mark_runs_after_the_first(master):
    notebook = handed_in.blank()
    place = handed_in.position(notebook, "answer-1-1")
    second = copy.deepcopy(notebook["cells"][place]) | {"id": "new", "source": "def dot(a, b):\n    return a @ b"}
    notebook["cells"].insert(place + 1, second)
    notebook["cells"][place]["source"] = "def dot(a, b):\n    return a"
    found = steps(master, handed(notebook))
    place = found.index(("extra", "", second["source"]))
    assert found[place - 1][:2] == ("answer", "1.1") and found[place + 1][:2] == ("probe", "1.1")


def test_changed_given_cells_run_after_the_original(master):
    notebook = handed_in.solved()
    setup = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    original, setup["source"] = "".join(setup["source"]), "import math"
    found = rebuild(master, handed(notebook))
    assert [step.text for step in found.steps[:2]] == [original, "import math"]
    said = "the page's cell that begins with `from sys import executable, modules` was edited; the original ran"
    assert found.noticed == (said,)


@pytest.mark.parametrize("change", ["\r\n", "  \n", "\n\n"])
def test_line_ends_and_trailing_blanks_are_no_change(master, change):
    notebook = handed_in.solved()
    for cell in notebook["cells"]:
        ends = change if change != "\n\n" else "\n"
        cell["source"] = "".join(cell["source"]).replace("\n", ends) + (change if change == "\n\n" else "")
    found = rebuild(master, handed(notebook))
    assert found.noticed == () and {step.role for step in found.steps} == {"given", "answer", "probe"}


def test_a_missing_answer_is_missing_and_its_check_runs(master):
    notebook = handed_in.solved()
    notebook["cells"].pop(handed_in.position(notebook, "answer-1-2"))
    found = rebuild(master, handed(notebook))
    assert found.missing == {"1.2"} and "1.2" in {step.number for step in found.steps if step.role == "probe"}


def test_an_empty_notebook(master):
    found = rebuild(master, [])
    assert found.missing == set(handed_in.POINTS_01) and len(found.noticed) == sum(1 for _ in master.cells)


def test_a_claimed_id_counts_once(master):
    cells = [*handed(handed_in.solved()), Handed("code", "dot = None", "answer-1-1", "answer-1-1")]
    found = rebuild(master, cells)
    assert [step.number for step in found.steps if step.role == "answer"] == list(handed_in.POINTS_01)
    assert found.steps[-1].text == "dot = None" and "twice" in found.noticed[0]


def test_a_copy_of_a_cell_as_it_is_needs_no_word(master):
    cells = handed(handed_in.solved())
    assert rebuild(master, cells + cells).noticed == ()
    changed = [
        Handed(cell.kind, cell.text + "\n1", cell.id, cell.grade_id) for cell in cells if cell.id == "answer-1-1"
    ]
    assert rebuild(master, cells + changed).noticed == ("the answer cell of 1.1 occurs twice; the first counts",)


@pytest.mark.parametrize("also", ["", "\n\ndot = None"])
def test_a_check_of_another_name(master, also):
    """What the student's own check looked at is the answer, unless something has the name that was asked for."""
    notebook = handed_in.solved(answer_1_1="def my_dot(a, b):\n    return (a * b).sum()" + also)
    notebook["cells"][handed_in.position(notebook, "check-1-1")]["source"] = 'check("1.1", my_dot)'
    found = steps(master, handed(notebook))
    assert (("answer", "1.1", "dot = my_dot") in found) == (not also)
    if not also:
        assert found.index(("answer", "1.1", "dot = my_dot")) < found.index(("probe", "1.1", 'check("1.1", dot)'))


def test_an_answer_found_elsewhere_is_not_called_missing(master):
    """Two answers in one cell."""
    cells = handed(handed_in.solved())
    both = [cell for cell in cells if cell.id in ("answer-1-1", "answer-1-2")]
    together = Handed("code", "\n\n\n".join(cell.text for cell in both))
    found = rebuild(master, [together, *(cell for cell in cells if cell not in both)])
    assert not found.missing and "your answer to 1.2 was found in another cell" in found.noticed
    assert not any("missing" in line for line in found.noticed)


DOT = "def dot(a, b):\n    return (a * b).sum()"


def moved(master, text, change, **answers):
    """The roles around the probe of 1.1, where ``change`` has put ``text`` into the notebook."""
    notebook = handed_in.solved(**answers)
    change(notebook["cells"], text)
    found = rebuild(master, handed(notebook))
    kept = [step for step in found.steps if step.number == "1.1" or step.text == text]
    return [(step.role, step.text) for step in kept if step.role != "probe" or step.number == "1.1"], found


def insert_at(name, offset=0):
    def change(cells, text):
        cells.insert(handed_in.position({"cells": cells}, name) + offset, handed_in.code(text))

    return change


def into(name):
    def change(cells, text):
        cells[handed_in.position({"cells": cells}, name)]["source"] = text

    return change


STUB = "def dot(a, b):\n    # YOUR CODE HERE\n    raise NotImplementedError"
PROBE = ("probe", 'check("1.1", dot)')


@pytest.mark.parametrize(
    ("change", "order"),
    [
        (insert_at("answer-1-1"), ["answer", "probe"]),
        (insert_at("answer-1-1", 1), ["answer", "probe"]),
        (insert_at("check-1-1", 1), ["answer", "probe"]),
        (insert_at("check-1-3", 1), ["answer", "probe"]),
        (insert_at("check-1-8", 1), ["answer", "probe"]),
    ],
)
@pytest.mark.parametrize("own", [STUB, STUB + "  # later", "", "# nothing", "dott = 1"])
def test_an_answer_in_another_cell_is_found_where_its_own_is_as_handed_out(master, change, order, own):
    found, rebuilt = moved(master, DOT, change, answer_1_1=own)
    assert [role for role, _ in found if role == "probe" or _ == DOT] == order
    assert STUB not in {text for _, text in found}
    assert rebuilt.noticed[-1] == "your answer to 1.1 was found in another cell"
    assert DOT in rebuilt.answer("1.1") and rebuilt.missing == set()


@pytest.mark.parametrize("text", [DOT + '\n\ncheck("1.1", dot)', 'check("1.1", dot)\n' + DOT])
def test_an_answer_in_the_checks_own_cell_is_found(master, text):
    found, rebuilt = moved(master, text, into("check-1-1"), answer_1_1=STUB)
    assert found == [("answer", text), PROBE] and rebuilt.answer("1.1") == text
    assert rebuilt.noticed == (
        "the check of 1.1 was edited; the original ran",
        "your answer to 1.1 was found in another cell",
    )


def test_what_stands_below_a_check_does_not_count_where_there_is_an_answer(master):
    found, rebuilt = moved(master, "dot = None", insert_at("check-1-1", 1), answer_1_1=DOT)
    assert found == [("answer", DOT), PROBE, ("extra", "dot = None")] and rebuilt.noticed == ()


def test_all_answers_in_one_cell(master):
    notebook = handed_in.blank()
    notebook["cells"].append(handed_in.code(DOT + "\ndef cosine(a, b):\n    return 0"))
    found = rebuild(master, handed(notebook))
    numbers = [(step.role, step.number) for step in found.steps]
    assert numbers[-3:] == [("answer", "1.1"), ("probe", "1.2"), ("probe", "1.1")]
    assert found.answer("1.2") == found.answer("1.1") != ""


def test_nothing_written_stays_as_it_was_handed_out(master):
    found = rebuild(master, handed(handed_in.blank()))
    assert found.noticed == () and not found.elsewhere and len(found.steps) == len(master.cells)


@pytest.mark.parametrize("text", ["\n" * 150_000, "#\n" * 70_000, "check(\n" * 20_000, "dot\n" * 30_000])
def test_no_text_takes_long(master, text):
    cells = [Handed(kind, text) for kind in ("code", "markdown", "code")]
    started = time.perf_counter()
    rebuild(master, cells)
    assert time.perf_counter() - started < 30
