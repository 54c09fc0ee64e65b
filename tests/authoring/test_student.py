"""What students get: answers out, everything else as it was, no leak."""

import pytest

from course_authoring.errors import AuthoringError
from course_authoring.source import read_source
from course_authoring.student import require_no_leak, student_text


def cells(project):
    source = read_source(project, project / "sources/exercises/05_masking.py")
    return source, source.cells


def test_the_stub_stands_at_the_solutions_indent(project):
    source, found = cells(project)
    assert student_text(source, found[3]) == "def square(x):\n    # YOUR CODE HERE\n    raise NotImplementedError"


def test_a_quiz_keeps_its_empty_answer(project):
    source, found = cells(project)
    assert student_text(source, found[8]) == 'quiz_5_2 = ""  # your letter'


def test_other_cells_are_untouched(project):
    source, found = cells(project)
    assert student_text(source, found[4]) == found[4].text
    require_no_leak(source)


def test_where_no_function_holds_the_answer_the_cell_runs(project, edit):
    edit("def square(x):\n    # BEGIN SOLUTION\n    result = x * x\n", "square = {}\n# BEGIN SOLUTION\nresult = 1\n")
    edit("    return result\n    # END SOLUTION\n", "square[1] = result\n# END SOLUTION\n")
    source, found = cells(project)
    assert student_text(source, found[3]) == "square = {}\n# YOUR CODE HERE"


def test_two_regions_in_one_cell(project, edit):
    edit(
        "    # END SOLUTION\n\n\n",
        "    # END SOLUTION\n\n\ndef cube(x):\n    # BEGIN SOLUTION\n    return x**3\n    # END SOLUTION\n",
    )
    source, found = cells(project)
    assert student_text(source, found[3]).count("raise NotImplementedError") == 2


MISTAKES = {
    "not closed": ("    # END SOLUTION\n\n\n", "", "without '# END SOLUTION'"),
    "not opened": ("    # BEGIN SOLUTION\n", "", "without a '# BEGIN SOLUTION' before it"),
    "nested": ("    result = x * x\n", "    # BEGIN SOLUTION\n", "nested '# BEGIN SOLUTION' at line 27"),
    "empty": ('quiz_5_2 = "b"\n', "", "empty solution region"),
    "misspelled": ("    # BEGIN SOLUTION\n", "    # BEGIN  SOLUTION here\n", "misspelled solution marker"),
    "in a check": ('check("5.1", square)', '# BEGIN SOLUTION\ncheck("5.1", square)\n# END SOLUTION', "not tagged"),
    "no markers": ("    # BEGIN SOLUTION\n    result = x * x\n    return result\n    # END SOLUTION\n", "    return x * x\n",
                   "an answer cell without"),
    "leak in a hint": ("A number times itself.", "Write\n#\n#     result = x*x\n#     return result  # so", "solution text left"),
    "leak in code": ("    assert answer in", "    result = x * x\n    return result\n    assert answer in", "cell 4"),
    "leak of a solution cell": ("A number times itself.", "\n# Why it works: squaring is repeated multiplication.\n#", "cell 7"),
    "stub breaks the syntax": ("def square(x):\n    # BEGIN SOLUTION", "# BEGIN SOLUTION\ndef square(x):", "syntax error"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(project, edit, name):
    old, new, reason = MISTAKES[name]
    edit(old, new)
    if name == "stub breaks the syntax":
        edit("    # END SOLUTION\n\n\n", "# END SOLUTION\n    pass\n")

    def take_answers_out():
        source, found = cells(project)
        for cell in found:
            student_text(source, cell)
        require_no_leak(source)

    with pytest.raises(AuthoringError) as caught:
        take_answers_out()
    assert reason in str(caught.value)
    assert caught.value.cell is not None
