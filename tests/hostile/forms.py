"""Answers that are not what they seem; honest notebooks of odd form; files that are no notebook."""

import json

import handed_in
from handed_in import as_bytes, code, position, solved, with_cell
from making import (
    RIGHT_DOT,
    WRONG,
    Case,
    edited,
    front,
    instead,
    without_cell,
)

SEEMING = [
    Case("equal to everything", instead("class Yes:\n    def __eq__(self, other):\n        return True\n    __class__ = float\n    def __float__(self):\n        return 14.0\ndef dot(a, b):\n    return Yes()"), WRONG),
    Case("a tensor of a class of its own", instead("import torch\nclass T(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, func, types, args=(), kwargs=None):\n        return True\ndef dot(a, b):\n    return torch.zeros(()).as_subclass(T)"), WRONG),
    Case("endless", instead("import itertools\ndef dot(a, b):\n    return itertools.count()"), WRONG),
    Case("5 GB that take no memory", instead("import torch\ndef dot(a, b):\n    return torch.zeros(1).expand(5 * 10**9)"), WRONG),
    Case("a number of a million digits", instead("def dot(a, b):\n    return 10 ** 10**6"), WRONG),
    Case("nested a thousand deep", instead("def dot(a, b):\n    x = []\n    for _ in range(1000):\n        x = [x]\n    return x"), WRONG),
    Case("changes the default dtype", front("import torch\ntorch.set_default_dtype(torch.float64)")),
    Case("a message with escape codes", instead("def dot(a, b):\n    raise ValueError('\\x1b[2J\\x00\\u202e<b>\\n' * 100)"), WRONG),
    Case("code that Python cannot nest", as_bytes(with_cell(solved(), "x = " + "(" * 5000 + ")" * 5000))),
    Case("a sum of 100,000 terms", as_bytes(with_cell(solved(), "x = " + "1+" * 100_000 + "1"))),
    Case("a million lines of magics", as_bytes(with_cell(solved(), "if False:\n" + "    !ls\n" * 100_000))),
]  # fmt: skip


def _colab(notebook):
    for cell in notebook["cells"]:
        cell["metadata"]["id"] = cell.pop("id")
    notebook["nbformat_minor"] = 0


def _bare(notebook):
    for cell in notebook["cells"]:
        cell.pop("id")
        cell["metadata"] = {}
    notebook["nbformat_minor"], notebook["metadata"] = 4, {}


def _setup_extended(notebook):
    notebook["cells"][position(notebook, "01-dot-product-similarity-exercises-2")]["source"] += "\nimport math as m"
    notebook["cells"][position(notebook, "answer-1-1")]["source"] = RIGHT_DOT + " * m.cos(0)"


def _older(notebook):
    for name in ("answer-1-8", "check-1-8"):
        without_cell(name)(notebook)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = "An older text. " + "".join(cell["source"])


HONEST = [
    Case("as it should be", as_bytes(solved())),
    Case("blank", as_bytes(handed_in.blank()), dict.fromkeys(handed_in.POINTS_01, "not attempted")),
    Case("warnings on stderr", instead("import warnings, sys\nwarnings.warn('careful')\nprint('oh', file=sys.stderr)\n" + RIGHT_DOT)),
    Case("an extra cell that helps", as_bytes(with_cell(solved(answer_1_1="def dot(a, b):\n    return added(a * b)"), "def added(x):\n    return x.sum()", before="answer-1-1"))),
    Case("an extra cell that compares with PyTorch", as_bytes(with_cell(solved(), "import torch\nx = torch.ones(2, 3, 4)\nout = x @ x.mT\nassert torch.allclose(all_pairs_einsum(x, x), out)", before="check-1-4"))),
    Case("an extra cell that fails", as_bytes(with_cell(solved(), "1 / 0", before="answer-1-1"))),
    Case("magics and plots", as_bytes(with_cell(solved(), "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);\n!echo hello\nx = !ls"))),
    Case("imports added to the setup", edited(_setup_extended)),
    Case("saved by Colab", edited(_colab)),
    Case("ids and metadata lost", edited(_bare)),
    Case("an older release", edited(_older), {"1.8": "missing"}),
    Case("helper processes", instead("import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n    assert pool.map(abs, [-1, -2]) == [1, 2]\n" + RIGHT_DOT)),
]  # fmt: skip


UNREADABLE = [
    Case(name, data, None, (why,))
    for name, data, why in (
        ("truncated", as_bytes(solved())[:5000], "not JSON"),
        ("empty", b"", "empty"),
        ("null", b"null", "not a notebook"),
        ("a list", b"[]", "not a notebook"),
        ("Latin-1", json.dumps(solved(), ensure_ascii=False).replace("·", "é").encode("latin-1", "replace"), "UTF-8"),
        ("format 3", as_bytes({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}), "format 3"),
        ("format 5", as_bytes(solved() | {"nbformat": 5}), "format 5"),
        ("cells that are none", as_bytes(solved() | {"cells": [1, None, "x"]}), "not a cell"),
        (
            "texts that are none",
            as_bytes(solved() | {"cells": [{"cell_type": "code", "source": {"a": 1}}]}),
            "not text",
        ),
        ("nested a million deep", b"[" * 10**6, "not JSON"),
        ("a million cells", as_bytes({"nbformat": 4, "metadata": {}, "cells": [{}] * 10**6}), "cells"),
        (
            "another course's",
            as_bytes({"nbformat": 4, "metadata": {}, "cells": [code("x = 1")]}),
            "none of the lessons",
        ),
    )
]
