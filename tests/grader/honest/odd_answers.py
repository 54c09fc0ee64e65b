"""Answers as students write them: in all the Python and all of Jupyter's additions that there are."""

from pathlib import Path

from handed_in import sections

from .honest_notebook import add, find, honest

for header, text in sections(Path(__file__).with_name("odd_answers.txt")):
    name, lesson, cell, *quick = header.split()

    def make(notebook, cell=cell, text=text):
        find(notebook, cell)["source"] = text

    add(name, lesson, make, quick=bool(quick))


@honest(quick=True)
def pasted_with_indent(notebook):
    """IPython takes the common indent away."""
    text = find(notebook, "answer-1-2")["source"]
    find(notebook, "answer-1-2")["source"] = "\n".join("    " + line for line in text.split("\n"))


@honest()
def pasted_with_prompts(notebook):
    """IPython takes prompts away, Python's and its own."""
    for name, first, then in (("answer-1-1", ">>> ", "... "), ("answer-1-2", "In [5]: ", "   ...: ")):
        head, *rest = find(notebook, name)["source"].split("\n")
        find(notebook, name)["source"] = "\n".join([first + head, *(then + line for line in rest)])


@honest()
def quiz_in_capitals(notebook):
    cell = find(notebook, "quiz-1-7")
    name, letter = cell["source"].strip().split("\n")[-1].split(" = ")
    cell["source"] = f"# {name}: I first thought 'a', then counted\n{name} = {letter.upper()};"
