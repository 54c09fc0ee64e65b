"""The student's answers come back in the master's places, whatever was done to the notebook."""

import copy

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
    found = steps(master, handed(notebook))
    place = found.index(("extra", "", second["source"]))
    assert found[place - 1][:2] == ("answer", "1.1") and found[place + 1][:2] == ("probe", "1.1")


def test_changed_given_cells_run_after_the_original(master):
    notebook = handed_in.solved()
    setup = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    original, setup["source"] = "".join(setup["source"]), "import math"
    found = rebuild(master, handed(notebook))
    assert [step.text for step in found.steps[:2]] == [original, "import math"]
    assert found.noticed == (f"given cell {setup['id']} was edited; the original ran",)


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
