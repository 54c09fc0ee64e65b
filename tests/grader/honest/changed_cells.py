"""Cells beside the answers, answers in all the Python and Jupyter that there is, and answers that stand elsewhere."""

import handed_in

from .honest_notebook import find, honest, insert, read

for file in ("extra_cells.txt", "odd_answers.txt", "moved_answers.txt"):
    read(file)


@honest(restored=True)
def answer_cell_cut_up(notebook):
    """Split in JupyterLab: the cell below gets an id of its own."""
    find(notebook, "answer-1-6")["source"] = "# my first idea was einsum\n"
    insert(notebook, "check-1-6", find(handed_in.solved(), "answer-1-6")["source"])


@honest(restored=True)
def check_in_the_answers_cell(notebook):
    """The cells were merged."""
    check = find(notebook, "check-1-1")
    find(notebook, "answer-1-1")["source"] += f"\n\n\n{check['source']}"
    notebook["cells"].remove(check)


@honest(restored=True)
def everything_in_one_cell(notebook):
    """All answers at the top; their cells are deleted. The experiment stays: it needs a function that the page gives it."""
    answers = [find(notebook, name) for name in handed_in.answer_ids(notebook) if name != "answer-1-9"]
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in answers]
    insert(notebook, "1-1-a-dot-product-for-pictures-1", "\n\n\n".join(cell["source"] for cell in answers))


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
