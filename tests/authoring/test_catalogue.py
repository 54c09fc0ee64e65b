"""What the checks read of the exercise sources: the catalogue, the worked solutions, the right letters and why."""

import json

import pytest

from course_authoring.build import build, check, read_sources
from course_authoring.catalogue import CATALOGUE, SOLUTIONS, texts

SETUP = '# %% tags=["setup"]\n# stands in for the course\'s own\n'
ANSWER = "def square(x):\n    # BEGIN SOLUTION\n    result = x * x\n    return result\n    # END SOLUTION\n"
SOLVED = "def square(x):\n    result = x * x\n    return result"


def entries(project, path):
    sources, errors = read_sources(project)
    assert not errors
    return json.loads(texts(sources)[path])


def carried(project, number="5.1"):
    return entries(project, SOLUTIONS)[number]


def error_of_cell(project, cell):
    """The one error that the sources have; it names this cell of the exercises."""
    _, (error,) = read_sources(project)
    assert str(error).startswith(f"sources/exercises/05_masking.py:{error.line}: cell {cell}: ")
    return str(error)


def test_the_catalogue_says_what_students_may_read(project):
    assert entries(project, CATALOGUE) == {
        "5.1": {"title": "Square", "points": 3, "minutes": 10, "is_core": True, "answer": "square"},
        "5.2": {
            "title": "Choose",
            "points": 1,
            "minutes": 1,
            "is_core": False,
            "answer": "quiz_5_2",
            "options": {"a": "one", "b": "$x_1$, two"},
        },
    }


def test_a_solution_has_no_markers_and_a_quiz_its_letter_and_explanations(project):
    assert carried(project) == {"before": "", "text": SOLVED, "mistakes": []}
    explanations = {"a": "one is too few.", "b": "two is enough, said in a line and a half."}
    assert carried(project, "5.2") == {"right": "b", "explanations": explanations}


NEEDED = {
    "an import, of its names alone": (
        "import math, sys\nfrom torch import nn as net, optim\nimport os.path, json, torch.nn.functional as F",
        "net.ReLU(math.pi, F, os.sep)",
        "import math\nfrom torch import nn as net\nimport os.path, torch.nn.functional as F",
    ),
    "given code, and what that needs": (
        "import math\nimport sys\nHALF = 0.5\nTHIRD = 1 / 3\n\n\n@staticmethod\n"
        "def root(x):\n    return x**HALF + math.e  # e\n\n\nprint(HALF)",
        "root(x)",
        "import math\nHALF = 0.5\n@staticmethod\ndef root(x):\n    return x**HALF + math.e  # e",
    ),
    "a class, several names at once, a loop": (
        "class Net:\n    pass\n\n\nA, (B, *_) = 1, (2, 3)\nC: int = 3\nfor D in (1, 2):\n    pass",
        "Net(B, C, D)",
        "class Net:\n    pass\nA, (B, *_) = 1, (2, 3)\nC: int = 3\nfor D in (1, 2):\n    pass",
    ),
    "nothing for names of its own": ("result = y = 5\nx = 2", "[y for y in (result, x)]", ""),
    "not itself": ("", "square(x)", ""),
    "what a value is changed from": ("A = 1\nA += 1", "A", "A = 1\nA += 1"),
}


@pytest.mark.parametrize("name", NEEDED)
def test_it_carries_what_the_solution_needs_of_the_cells_before(project, edit, name):
    setup, expression, before = NEEDED[name]
    edit(SETUP, f"{SETUP}{setup}\n")
    edit("return result", f"return {expression}")
    solved = SOLVED.replace("return result", f"return {expression}")
    assert carried(project) == {"before": before, "text": solved, "mistakes": []}


def test_it_carries_an_earlier_answer_solved(project, edit):
    later = '# %% [markdown]\n# ### 5.3 · Again\n# 1 point · difficulty 1 of 5 · 1 minute\n\n# %% tags=["exercise"]\n'
    later += ANSWER.replace("square", "fourth").replace("x * x", "square(square(x))")
    edit(
        "# %% [markdown]\n# ### 5.2",
        f'{later}\n# %% tags=["check"]\ncheck("5.3", fourth)\n\n# %% [markdown]\n# ### 5.2',
    )
    assert carried(project, "5.3")["before"] == SOLVED
    assert carried(project)["before"] == ""  # and none of what comes after


def test_an_answer_in_two_cells_is_one_solution(project, edit):
    edit(
        '# %% tags=["check"]\ncheck("5.1"',
        f'# %% tags=["exercise"]\n{ANSWER.replace("square", "cube")}\n# %% tags=["check"]\ncheck("5.1"',
    )
    assert carried(project)["text"] == f"{SOLVED}\n\n{SOLVED.replace('square', 'cube')}"


def test_an_experiment_carries_nothing(project, edit):
    edit(ANSWER, "square = {}\n# BEGIN SOLUTION\nsquare[1] = 2\n# END SOLUTION\n")
    assert carried(project) == {}


KNOWN = """Try: multiply x by itself.
it doubles.
    x * x => 2 * x
the square with a minus, in two steps.
    result = => found =
    return result => # return it\\nreturn -found
nothing is returned; a second edit changes what the first one wrote.
    return result => return x
    return x =>
Try: leave the sign.
a blank in front, with the line's end.
    ` * x` => ` * -x`
    `x\\n` => `x\\n    x = x\\n`"""
READ = [
    {"looks_like": "it doubles.", "advice": "multiply x by itself.", "edits": {"x * x": "2 * x"}},
    {
        "looks_like": "the square with a minus, in two steps.",
        "advice": "multiply x by itself.",
        "edits": {"result =": "found =", "return result": "# return it\nreturn -found"},
    },
    {
        "looks_like": "nothing is returned; a second edit changes what the first one wrote.",
        "advice": "multiply x by itself.",
        "edits": {"return result": "return x", "return x": ""},
    },
    {
        "looks_like": "a blank in front, with the line's end.",
        "advice": "leave the sign.",
        "edits": {" * x": " * -x", "x\n": "x\n    x = x\n"},
    },
]


def test_known_mistakes_are_carried_and_stand_in_no_notebook(built, put_mistakes):
    put_mistakes(KNOWN)
    assert build(built) == [SOLUTIONS] and check(built) == []
    assert carried(built) == {"before": "", "text": SOLVED, "mistakes": READ}


def test_a_cell_below_known_mistakes_is_still_named_by_its_own_line(project, put_mistakes, edit):
    put_mistakes(KNOWN)
    edit('check("5.1", square)', 'check("5.1", square)\n1 / 0')
    with pytest.raises(ExceptionGroup) as caught:
        build(project)
    assert ": cell 6: the cell raises ZeroDivisionError" in str(caught.value.exceptions[0])


NO_EDITS = {
    "a mistake without an edit": ("it doubles.\nit halves.\n    x * x => x / 2", "'it doubles.' has no edit"),
    "the old text stands nowhere": ("it doubles.\n    x*x => 2 * x", "'it doubles.' changes 'x*x', which the solution"),
    "it is gone after the first edit": ("it doubles.\n    x * x => 2 * x\n    x * => x", "changes 'x *', which"),
    "one text is changed twice": ("it doubles.\n    x * x => 2 * x\n    x * x => x", "changes 'x * x' twice"),
    "no sentence": ("Try: square it.\n    x * x => 2 * x", "no line above the edit 'x * x => 2 * x' says"),
    "advice below its mistake": (
        "it doubles.\nTry: square it.\n    x * x => 2 * x",
        "no line above the edit 'x * x =>",
    ),
    "advice without an end": ("it doubles.\nTry:\n    x * x => 2 * x", "'it doubles.' has no edit"),
}


@pytest.mark.parametrize("name", NO_EDITS)
def test_a_mistake_that_cannot_be_made_is_named(project, put_mistakes, name):
    table, reason = NO_EDITS[name]
    put_mistakes(table)
    assert reason in error_of_cell(project, 5)


def test_an_experiment_has_no_answer_to_edit(project, put_mistakes, edit):
    put_mistakes(KNOWN)
    edit(ANSWER, "square = {}\n# BEGIN SOLUTION\nsquare[1] = 2\n# END SOLUTION\n")
    assert "5.1: its answer is no function or class" in error_of_cell(project, 5)


EXPLAINED = "# - **a.** one is too few.\n"
MISTAKES = {
    "no explanations": ('# %% [markdown] tags=["solution"]\n# - **a.**', "# %% [markdown]\n# - **a.**", 9,
                        "5.2: a Markdown cell tagged 'solution' must say of each option why it is right or wrong, "
                        "'- **a.** ...'; options a, b, explained none"),
    "an option that is not explained": (EXPLAINED, "", 10, "options a, b, explained b"),
    "an explanation too many": (EXPLAINED, f"{EXPLAINED}# - **c.** so are three.\n", 10, "explained a, c, b"),
    "an answer that is no letter": ('quiz_5_2 = "b"\n', "quiz_5_2 = 2\n", 9, "5.2: the marked answer must be the letter"),
    "a letter that is no option": ('quiz_5_2 = "b"\n', 'quiz_5_2 = "c"\n', 9, "as '- **a.** ...'; they are: a, b"),
    "no options": ("#\n# - **a.** one\n# - **b.** $x_1$, two\n", "", 9, "they are: none"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_quiz_that_is_not_whole_is_named(project, edit, name):
    old, new, cell, reason = MISTAKES[name]
    edit(old, new)
    assert reason in error_of_cell(project, cell)


def test_a_broken_source_stops_the_build_and_the_check(project, edit):
    edit(EXPLAINED, "")
    for command in (build, check):
        with pytest.raises(ExceptionGroup) as caught:
            command(project)
        assert "options a, b, explained b" in str(caught.value.exceptions[0])
    assert (project / "notebooks/05_masking.ipynb").exists()  # the lesson is built
    assert not list(project.rglob("*.json")) and not (project / "exercises/05_masking.ipynb").exists()


def test_explanations_never_reach_students(built):
    released, solution = ((built / f"{folder}/05_masking.ipynb").read_text() for folder in ("exercises", "solutions"))
    for text in ("too few", "two is enough", "and a half"):
        assert text in solution and text not in released and text not in (built / CATALOGUE).read_text()


def test_the_check_misses_what_the_build_writes(built, edit):
    for path in (CATALOGUE, SOLUTIONS):
        (built / path).write_text("{}\n")
        assert check(built) == [f"{path}: not what the exercise sources say; run `make build`"]
        assert build(built) == [path]
    edit("one is too few", "one does not do")  # no code has changed
    assert build(built) == [SOLUTIONS, "solutions/05_masking.ipynb"]


@pytest.mark.parametrize("only", ["05", None])
def test_they_are_whole_whatever_is_built(project, only):
    second = (project / "sources/exercises/05_masking.py").read_text().replace("5.", "6.").replace("# # 05", "# # 06")
    (project / "sources/exercises/06_other.py").write_text(second)
    (project / "sources/lessons/06_other.py").write_text((project / "sources/lessons/05_masking.py").read_text())
    build(project, only)
    for path in (CATALOGUE, SOLUTIONS):
        assert list(json.loads((project / path).read_text())) == ["5.1", "5.2", "6.1", "6.2"]
