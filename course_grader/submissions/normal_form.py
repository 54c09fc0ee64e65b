"""What stays of an answer when names, comments, docstrings, annotations and formatting are left aside.

Two answers of one form say the same, so it shows who wrote the same, and who wrote what the course's solution says.
"""

import ast
import copy
import hashlib
from dataclasses import dataclass
from typing import Any

from course_checks.deciding.solution import carried

from ..reading.cells import read_cell

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FEWEST_STATEMENTS = 3  # of a solution; shorter ones are written alike by many


@dataclass(frozen=True)
class NormalForm:
    """The form of one answer."""

    digest: str  # two answers are equal where this is
    nodes: int  # of its syntax tree: how much it says
    statements: int  # without the ``def`` and ``class`` themselves


def compared(number: str, name: str, answer: str, released: str) -> dict[str, Any]:
    """What a result keeps of the form of an answer, where ``released`` was handed out and the check looks at ``name``.

    ``form``: the digest, empty where nothing was written or it cannot be read; ``own_nodes``: how much of it was not handed
    out; ``equal_to_solution``: None where that would say nothing (quizzes, experiments, solutions of one or two statements).
    """
    texts = (answer, released, carried(number).get("text") or "")
    form, stub, solution = (normal_form(text, name) for text in texts)
    if form is None or form == stub:
        return {"form": "", "own_nodes": 0, "equal_to_solution": None}
    says_much = solution is not None and solution.statements >= FEWEST_STATEMENTS
    return {
        "form": form.digest,
        "own_nodes": form.nodes - (stub.nodes if stub else 0),
        "equal_to_solution": form.digest == solution.digest if says_much else None,
    }


def normal_form(code: str, name: str) -> NormalForm | None:
    """The form of the function or class of this name, else of the last one in the cell, else of the whole cell.

    None where the cell is empty or cannot be read. A hostile cell can take long: call it through ``bounded``.
    """
    tree = read_cell(code).tree
    if tree is None or not tree.body:
        return None
    defined = [node for node in tree.body if isinstance(node, DEFINITIONS)]
    body = ([node for node in defined if node.name == name] or defined or [tree])[-1]
    try:
        plain = _without_words(copy.deepcopy(body))
        _rename(plain)
        nodes = list(ast.walk(plain))
        digest = hashlib.sha256(ast.dump(plain).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    except RecursionError:
        return None
    statements = sum(isinstance(node, ast.stmt) and not isinstance(node, DEFINITIONS) for node in nodes)
    return NormalForm(digest, len(nodes), statements)


def _without_words(tree: ast.AST) -> ast.AST:
    """Without docstrings, annotations, imports and the order of keyword arguments."""
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            node.body = _plain_body(body)
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.Call):
            node.keywords.sort(key=lambda keyword: keyword.arg or "")
    return tree


def _plain_body(body: list[ast.stmt]) -> list[ast.stmt]:
    plain = []
    for node in body:
        is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.AnnAssign) and node.value:
            node = ast.Assign([node.target], node.value)
        if not is_constant and not isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
            plain.append(node)
    return plain


def _rename(tree: ast.AST) -> None:
    """Number the names that the code itself gives, in the order in which they appear in the tree."""
    nodes = list(ast.walk(tree))
    given = {node.arg for node in nodes if isinstance(node, ast.arg)}
    given |= {node.name for node in nodes if isinstance(node, (*DEFINITIONS, ast.ExceptHandler)) and node.name}
    given |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    given |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    numbers: dict[str, str] = {}
    for node in nodes:
        for part in ("arg", "name", "id", "attr"):
            word = getattr(node, part, None)
            if word in given and not isinstance(node, ast.keyword | ast.alias):
                setattr(node, part, numbers.setdefault(word, f"name {len(numbers)}"))
