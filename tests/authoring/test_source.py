"""Reading sources: what stands in them, and each mistake of an author named with file, line and reason."""

import pytest

from course_authoring.build import targets
from course_authoring.errors import AuthoringError
from course_authoring.source import read_source

EXERCISES = "sources/exercises/05_masking.py"
LESSON = "sources/lessons/05_masking.py"


def test_cells_tags_and_lines(project):
    source = read_source(project, project / EXERCISES)
    text = (project / EXERCISES).read_text().splitlines()
    assert [cell.ordinal for cell in source.cells] == list(range(1, 12))
    assert all(text[cell.line - 1].startswith("# %%") for cell in source.cells)
    assert source.cells[3].tags == ("exercise",) and source.cells[3].text.startswith("def square(x):")


def test_exercises_are_found(project):
    first, second = read_source(project, project / EXERCISES).exercises
    assert (first.number, first.title, first.points) == ("5.1", "Square", 3)
    assert (second.number, second.points, second.answers[0].tags) == ("5.2", 1, ("quiz",))
    assert first.check.text == 'check("5.1", square)' and first.answer == "square"
    assert first.explanations.text.startswith("Why it works") and second.explanations.text.startswith("- **a.** one is")


def test_title_and_times(project, edit):
    source = read_source(project, project / LESSON)
    assert (source.title, source.times, source.lesson_number) == ("05 · Masking", ("65 min", "3½ h"), 5)
    edit(", everything about 3½ hours", "", "sources/lessons/05_masking.py")
    assert read_source(project, project / LESSON).times == ("", "")


ANSWER_5_1 = '# %% tags=["exercise"]\ndef square'
CHECK_5_1, CHECK_5_2 = '# %% tags=["check"]\ncheck("5.1"', '# %% tags=["check"]\ncheck("5.2"'
HINT = "# <details><summary>Hint</summary>A number times itself.</details>\n"
SOLUTION = "    # BEGIN SOLUTION\n    result = x * x\n    return result\n    # END SOLUTION\n"
TABLE = '# %% [markdown] tags=["mistakes"]\n# it doubles.\n#     x * x => 2 * x\n\n'
MISTAKES_AS_TEXT = (
    'Try: query i stands at position i + (L_k - L_q), "as" it\'s said; é ≥ 0.',
    "# a sentence like a heading, *starred* and {{braced}}.",
    "    # # (B, L) => #",
    r"    x \* y\n => \\n\t\n    # a comment",
    "",
    "- another after an empty line; the new text is empty.",
    "    dim=-1 =>",
    '    """ =>  two  spaces',
    "    %%time => !ls",
    "    # %% [markdown] => +",
)
MISTAKES = {
    "missing kernelspec": ("#     name: python3\n", "", None, "missing kernelspec"),
    "another kernel": ("name: python3", "name: ir", None, "missing kernelspec"),
    "kernel without display name": ("#     display_name: Python 3\n", "", None, "missing kernelspec"),
    "unknown tag": ('tags=["exercise"]', 'tags=["exercize"]', 4, "unknown tag 'exercize'"),
    "syntax error": ("return result", "return result)", 4, "syntax error at line 28"),
    "exercise without check": ('# %% tags=["check"]\ncheck("5.1", square)\n', "", 3, "5.1 is an exercise without a check"),
    "exercise without answer": ('# %% tags=["exercise"]\n', "# %%\n", 5, "stands before its answer"),
    "check without points": ("# 3 points · difficulty 2 of 5 · 10 minutes\n", "", 3, "a check without points"),
    "no points at all": ("# 3 points ·", "# 0 points ·", 3, "a check without points"),
    "points misspelled": ("difficulty 2 of 5", "difficulty 7 of 5", 3, "a check without points"),
    "neither core nor more": ("1 minute · more", "1 minute · maybe", 8, "a check without points"),
    "duplicated number": ("### 5.2 · Choose", "### 5.1 · Choose", 8, "exercise number 5.1 is used twice"),
    "another lesson's number": ("### 5.1 · Square", "### 6.1 · Square", 3, "exercise 6.1 in lesson 5"),
    "check of another number": ('check("5.1", square)', 'check("5.7", square)', 5, "found check('5.7', square)"),
    "two checks in a cell": ('check("5.1", square)', 'check("5.1", square); check("5.1", square)', 5, "holds one call"),
    "check without an answer": ('check("5.1", square)', 'check("5.1")', 5, "found check('5.1')"),
    "check of what has no name": ('check("5.1", square)', 'check("5.1", square(3))', 5, "found check('5.1', square(3))"),
    "check cell without check": ('check("5.1", square)', "print(square(3))", 5, "found none"),
    "answer outside an exercise": ("# ### 5.1 · Square", "# ### Square", 4, "outside an exercise"),
    "two roles": ('tags=["quiz"]', 'tags=["quiz", "exercise"]', 9, "exclude one another"),
    "role on text": ('# %% [markdown] tags=["hint"]', '# %% [markdown] tags=["check"]', 6, "belongs on a code cell"),
    "two checks": ('# %% [markdown] tags=["hint"]', '# %% tags=["check"]\ncheck("5.1", square)\n\n# %% [markdown]', 6,
                   "5.1 has two checks"),
    "mistakes as code": (ANSWER_5_1, '# %% tags=["mistakes"]\n' + ANSWER_5_1, 4, "on a Markdown cell, alone"),
    "mistakes that are a hint, too": ('tags=["hint"]', 'tags=["hint", "mistakes"]', 6, "on a Markdown cell, alone"),
    "mistakes above the answer": (ANSWER_5_1, TABLE + ANSWER_5_1, 4, "stand below the cell tagged 'exercise'"),
    "mistakes of a quiz": (CHECK_5_2, TABLE + CHECK_5_2, 11, "stand below the cell tagged 'exercise'"),
    "mistakes outside an exercise": ("# %% [markdown]\n# ### 5.1", TABLE + "# %% [markdown]\n# ### 5.1", 3, "stand below the"),
    "two tables of mistakes": (CHECK_5_1, 2 * TABLE + CHECK_5_1, 6, "5.1 has two cells tagged 'mistakes'"),
    "no title": ("# # 05 · Masking: exercises", "# Masking", 1, "the first cell must be Markdown"),
    "text before the first cell": ("# ---\n\n# %% [markdown]\n# # 05", "# ---\n\nprint(1)\n\n# %% [markdown]\n# # 05", None,
                                   "every cell must begin"),
    "not closed": ("    # END SOLUTION\n\n\n", "", 4, "without '# END SOLUTION'"),
    "not opened": ("    # BEGIN SOLUTION\n", "", 4, "without a '# BEGIN SOLUTION' before it"),
    "nested": ("    result = x * x\n", "    # BEGIN SOLUTION\n", 4, "nested '# BEGIN SOLUTION' at line 27"),
    "empty": ('quiz_5_2 = "b"\n', "", 9, "empty solution region"),
    "misspelled": ("    # BEGIN SOLUTION\n", "    # BEGIN  SOLUTION here\n", 4, "misspelled solution marker"),
    "markers in a check": ('check("5.1", square)', '# BEGIN SOLUTION\ncheck("5.1", square)\n# END SOLUTION', 5, "not tagged"),
    "no markers": (SOLUTION, "    return x * x\n", 4, "an answer cell without"),
    "leak in a hint": ("A number times itself.", "Write\n#\n# result = x*x\n# return result  # so", 6, "solution text left"),
    "a hint that is the answer": (HINT, "# result = x * x\n# return result\n", 6, "solution text left"),
    "leak in code": ("    assert", "    result = x * x\n    return result\n    assert", 2, "the whole answer of cell 4"),
    "leak of a solution cell": ("A number times itself.", "\n# Why it works: squaring is repeated multiplication.\n#", 6,
                                "answer of cell 7"),
    "stub breaks the syntax": (f"def square(x):\n{SOLUTION}",
                               "# BEGIN SOLUTION\nif True:\n    x = 1\n# END SOLUTION\n    x = 2\n", 4, "syntax error"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(project, edit, name):
    old, new, cell, reason = MISTAKES[name]
    edit(old, new)
    _, (error,) = targets(project, None)
    start = EXERCISES if cell is None else f"{EXERCISES}:{error.line}: cell {cell}"
    assert str(error).startswith(f"{start}: ") and reason in str(error)


@pytest.mark.parametrize("tag", ["exercise", "mistakes"])
def test_lessons_hold_no_exercises(project, edit, tag):
    edit('tags=["nbval-ignore-output"]', f'tags=["{tag}"]', LESSON)
    with pytest.raises(AuthoringError, match=f"unknown tag '{tag}' in a lesson source"):
        read_source(project, project / LESSON)


def test_a_table_of_mistakes_is_read_byte_for_byte(project, put_mistakes):
    table = "\n".join(MISTAKES_AS_TEXT)
    put_mistakes(table)
    source = read_source(project, project / EXERCISES)
    first, second = source.exercises
    assert first.mistakes.text == table and second.mistakes is None
    assert [cell.ordinal for cell in source.notebook_cells] == [1, 2, 3, 4, *range(6, 13)]


@pytest.mark.parametrize("name", ["5_masking.py", "05-masking.py", "05_Masking.py", "masking.py"])
def test_file_names(project, name):
    path = project / "sources/lessons" / name
    path.write_text((project / LESSON).read_text())
    with pytest.raises(AuthoringError, match="05_masking.py: two digits"):
        read_source(project, path)


def test_not_utf8(project):
    (project / LESSON).write_bytes(b"# \xff")
    with pytest.raises(AuthoringError, match="not UTF-8"):
        read_source(project, project / LESSON)


def test_a_comment_in_a_code_fence_is_no_heading(project, edit):
    edit("# Square it.\n", "# Square it.\n\n# %% [markdown]\n# Like so:\n#\n# ```\n# # not a heading\n# ```\n")
    assert read_source(project, project / EXERCISES).exercises[0].check is not None
