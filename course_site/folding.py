"""Which code of a lesson may be folded: that which only asks, and on a narrow screen that which only draws."""

import ast
import re

from nbformat import NotebookNode

from course_authoring.execute import WIDGET_STATE

ASKS = "widgets.predict"
# What a widget's output says as text.
INTERACTIVE = re.compile(r"\[interactive: (.*?) Run this cell [^\]]*\]", re.DOTALL)


def only_asks(cell: NotebookNode) -> bool:
    """Whether a cell is nothing but a prediction asked for, perhaps after assignments of what the question needs."""
    if cell.cell_type != "code" or _prints(cell):
        return False
    *before, last = _statements(cell.source) or [ast.Pass()]
    return all(isinstance(one, ast.Assign) for one in before) and _is_call_of(last, ASKS)


def draws(cell: NotebookNode) -> bool:
    """Whether a cell shows a figure or a moving picture, prints nothing, and defines no function and no class."""
    if cell.cell_type != "code" or not any(map(_is_picture, cell.outputs)) or _prints(cell):
        return False
    return not _defines(cell.source)


def prepares_drawing(cell: NotebookNode, following: NotebookNode | None) -> bool:
    """Whether a cell hands back nothing, plots, and stands right before one that shows the figure."""
    plots = cell.cell_type == "code" and not cell.outputs and "plotting." in cell.source
    return plots and not _defines(cell.source) and following is not None and draws(following)


def _defines(source: str) -> bool:
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(isinstance(one, defined) for one in _statements(source))


def _statements(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except SyntaxError:  # a line for the shell, or code that students complete
        return []


def _is_call_of(statement: ast.stmt, name: str) -> bool:
    called = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return called and ast.unparse(statement.value.func) == name


def _prints(cell: NotebookNode) -> bool:
    return any(output.output_type == "stream" and output.name == "stdout" for output in cell.outputs)


def _is_picture(output: NotebookNode) -> bool:
    data = output.get("data", {})
    return (
        "image/png" in data
        or WIDGET_STATE in output.get("metadata", {})
        or INTERACTIVE.match(data.get("text/plain", ""))
    )
