"""Answers that are not what they seem; files that are no notebook."""

from handed_in import as_bytes, code, solved, with_cell
from submission_case import (
    WRONG,
    Case,
    front,
    instead,
)

DECEPTIVE_ANSWERS = [
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


UNREADABLE = [  # tests/grader/submissions/test_find.py has every kind
    Case(name, data, None, (why,))
    for name, data, why in (
        ("truncated", as_bytes(solved())[:5000], "not JSON"),
        ("nested a million deep", b"[" * 10**6, "not JSON"),
        ("a million cells", as_bytes({"nbformat": 4, "metadata": {}, "cells": [{}] * 10**6}), "cells"),
        (
            "another course's",
            as_bytes({"nbformat": 4, "metadata": {}, "cells": [code("x = 1")]}),
            "none of the lessons",
        ),
    )
]
