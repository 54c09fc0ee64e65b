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


@pytest.mark.parametrize("lose", ["id", "id and metadata"])
def test_answers_are_found_without_their_ids(released, lose):
    notebook = handed_in.solved()
    straight = steps(released, submitted(notebook))
    for cell in notebook["cells"]:
        cell["id"] = ""
        if "metadata" in lose:
            cell["metadata"] = {}
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
    (edited,) = rebuilt.noticed
    assert edited.startswith("the page's cell that begins with `import ") and edited.endswith(
        "was edited; the original ran"
    )


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


def test_an_answer_found_elsewhere_is_not_called_missing(released):
    """Two answers in one cell."""
    cells = submitted(handed_in.solved())
    both = [cell for cell in cells if cell.id in ("answer-1-1", "answer-1-2")]
    together = SubmittedCell("code", "\n\n\n".join(cell.text for cell in both))
    rebuilt = rebuild(released, [together, *(cell for cell in cells if cell not in both)])
    assert not rebuilt.missing and not any("missing" in line for line in rebuilt.noticed)


@pytest.mark.parametrize("own", [STUB, "", "# nothing", "dott = 1"])
def test_an_answer_between_its_own_cell_and_the_check_is_shown_as_the_answer(released, own):
    notebook = handed_in.with_cell(handed_in.solved(answer_1_1=own), DOT, before="check-1-1")
    rebuilt = rebuild(released, submitted(notebook))
    assert rebuilt.answer("1.1").endswith(DOT) and rebuilt.missing == set()


def test_an_answer_in_the_checks_own_cell_runs_before_the_check(released):
    notebook = handed_in.solved(answer_1_1=STUB)
    notebook["cells"][handed_in.position(notebook, "check-1-1")]["source"] = text = DOT + '\n\ncheck("1.1", dot)'
    rebuilt = rebuild(released, submitted(notebook))
    order = [(step.role, step.text) for step in rebuilt.steps]
    assert order.index(("extra", text)) == order.index(CHECK) - 1 and rebuilt.answer("1.1").endswith(text)
    assert rebuilt.noticed == ("the check of 1.1 was edited; the original ran",)


def test_what_stands_below_a_check_does_not_count(released):
    notebook = handed_in.with_cell(handed_in.solved(), "dot = None", before="answer-1-2")
    rebuilt = rebuild(released, submitted(notebook))
    assert rebuilt.answer("1.1").strip() and not rebuilt.elsewhere and rebuilt.noticed == ()


def test_nothing_written_stays_as_it_was_handed_out(released):
    rebuilt = rebuild(released, submitted(handed_in.blank()))
    assert rebuilt.noticed == () and not rebuilt.elsewhere and len(rebuilt.steps) == len(released.cells)
