"""The notebook turned against its own checks; answers that are not the student's own; cells edited."""

import copy

import handed_in
from handed_in import as_bytes, position, solved
from submission_case import (
    WRONG,
    WRONG_DOT,
    Case,
    edited,
    front,
    instead,
    without_cell,
)

IP = "ip = get_ipython()\n"
TAMPERING = [
    Case("silences tracebacks", front(IP + "ip.showtraceback = lambda *a, **k: None", answer_1_1=WRONG_DOT), WRONG),
    Case(
        "rewrites later cells",
        front(IP + "ip.input_transformers_cleanup.append(lambda lines: ['pass'] if 'check(' in ''.join(lines) else lines)", answer_1_1=WRONG_DOT),
        WRONG,
    ),
    Case(
        "rewrites syntax trees",
        front(
            "import ast\nclass T(ast.NodeTransformer):\n    def visit_Call(self, n):\n        return ast.Constant(None)\n"
            + IP
            + "ip.ast_transformers.append(T())"
        ),
        dict.fromkeys(handed_in.POINTS_01, "unreadable"),
    ),
    Case("replaces check", front("def check(*a):\n    print('right')", answer_1_1=WRONG_DOT), WRONG),
    Case(
        "replaces check in its module",
        front("import course_checks.engine as e\ne.check = e.run = lambda *a: None", answer_1_1=WRONG_DOT),
        WRONG,
    ),
    Case(
        "replaces what compares",
        front(
            "import torch, builtins\ntorch.allclose = torch.isclose = torch.equal = lambda *a, **k: torch.tensor(True)\n"
            "builtins.AssertionError = type('E', (Exception,), {})",
            answer_1_1=WRONG_DOT,
        ),
        WRONG,
    ),
    Case(
        "replaces the judge",
        front("from course_checks.deciding import decide, compare\ndecide.Decider.verdict = compare.difference = lambda *a, **k: None", answer_1_1=WRONG_DOT),
        WRONG,
    ),
    Case(
        "replaces the shell's execution",
        front(IP + "ip.run_cell = ip.run_cell_async = ip._run_cell = lambda *a, **k: None", answer_1_1=WRONG_DOT),
        dict.fromkeys(handed_in.POINTS_01, "unreadable"),
    ),
    Case(
        "replaces the probe",
        front("import sys\nsys.modules['course_grader.in_sandbox.kernel_side'].observe = lambda *a: None", answer_1_1=WRONG_DOT),
        dict.fromkeys(handed_in.POINTS_01, "unreadable"),
    ),
    Case(
        "sends zeros for every observation",
        front(
            "import torch\nimport course_checks.running as inside\n"
            "def zeros(number, value, inputs, guarded=True):\n"
            "    zero = {'kind': 'tensor', 'dtype': 'float32', 'shape': [], 'device': 'cpu'}\n"
            "    return {'answer': 'called', 'type': 'function', 'cases': [{'outcome': 'returned', 'changed': [], 'value': {**zero, 'value': torch.zeros(())}} for _ in inputs]}\n"
            "inside.observe_answer = zeros",
        ),
        dict.fromkeys(handed_in.POINTS_01, "wrong"),
    ),
    Case(
        "sends a message of its own for later exercises",
        front(
            "from IPython.display import display\n"
            "for nonce in ('', '0', None):\n"
            "    display({'application/vnd.attention-course.observations+json': {'nonce': nonce, 'text': '{}', 'data': ''}}, raw=True)",
            answer_1_1=WRONG_DOT,
        ),
        WRONG,
    ),
]  # fmt: skip


MATMUL = "def all_pairs_einsum(queries, keys):\n    return {}"


def _product(body: str, front: str = "") -> bytes:
    return as_bytes(solved(answer_1_4=front + MATMUL.format(body)))


BORROWED = [
    Case(
        "hard-coded outputs for the visible examples",
        instead("def dot(a, b):\n    return {4: 14.0, -2: -8.0}.get(int(b[1]), 0.0)"),
        WRONG,
    ),
    Case(
        "the check's own reference",
        instead("from course_checks.deciding import find as engine\nREF = engine.find('1.1').right\ndef dot(a, b):\n    return REF(a, b)"),
        {"1.1": "error"},
    ),
    Case("numpy's matrix product", _product("torch.from_numpy(np.matmul(queries.numpy(), keys.transpose(-2, -1).numpy()))", "import numpy as np\n"), {}, ("`matmul` is on the list",)),
]  # fmt: skip


def _check_edited(notebook):
    cell = notebook["cells"][position(notebook, "check-1-1")]
    cell["source"] = "print('right')"
    notebook["cells"][position(notebook, "answer-1-1")]["source"] = WRONG_DOT


def _points(notebook):
    cell = notebook["cells"][position(notebook, "check-1-1")]
    cell["metadata"]["nbgrader"]["points"] = 1000
    notebook["metadata"]["course"]["points"]["1.1"] = 1000


def _retag(notebook):
    for cell in notebook["cells"]:
        cell["metadata"] = {"tags": ["raises-exception", "nbval-skip", "skip-execution"]}
    notebook["cells"][position(notebook, "answer-1-1")]["source"] = "# NBVAL_RAISES_EXCEPTION\n" + WRONG_DOT


def _uncode(notebook):
    cell = notebook["cells"][position(notebook, "check-1-1")]
    cell["cell_type"] = "raw"
    notebook["cells"][position(notebook, "answer-1-1")]["source"] = WRONG_DOT


def _duplicate(notebook):
    place = position(notebook, "answer-1-1")
    second = copy.deepcopy(notebook["cells"][place])
    second["source"] = "raise NotImplementedError"
    notebook["cells"].insert(place + 1, second)


def _reorder(notebook):
    notebook["cells"].reverse()


def _kernelspec(notebook):
    notebook["metadata"]["kernelspec"] = {"name": "bash", "language": "bash", "display_name": "x", "argv": ["sh"]}


RESTORED = [
    Case("edits a check", edited(_check_edited), WRONG, ("the check of 1.1 was edited",)),
    Case("deletes a check", edited(without_cell("check-1-1")), {}, ("the check of 1.1 was deleted",)),
    Case("deletes an answer", edited(without_cell("answer-1-1")), {"1.1": "missing"}, ("the answer cell of 1.1 is missing",)),
    Case("deletes the setup", edited(without_cell("01-dot-product-similarity-exercises-2")), {}, ("was deleted",)),
    Case("makes a check a raw cell", edited(_uncode), WRONG, ("the check of 1.1 was made a raw cell",)),
    Case("makes an answer a raw cell", edited(lambda n: n["cells"][position(n, "answer-1-1")].update(cell_type="raw")), {"1.1": "missing"}),
    Case("raises its points", edited(_points), {}),
    Case("tags every cell", edited(_retag), WRONG),
    Case("duplicates an answer's id", edited(_duplicate), {}, ("occurs twice",)),
    Case("reverses the cells", edited(_reorder), {}, ("reordered",)),
    Case("asks for another kernel", edited(_kernelspec)),
    Case("has only its answers", as_bytes({"nbformat": 4, "nbformat_minor": 5, "metadata": {},
         "cells": [c for c in solved()["cells"] if c["id"].startswith(("answer", "quiz"))]})),
]  # fmt: skip
