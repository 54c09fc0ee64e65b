"""Right answers run again by themselves: what was right only because of something beside it is found, and its cell named."""

import pytest
from recorded_answers import recorded_answers
from sandboxed import ANSWER, graded_alone, linux

from course_grader.run_again import runs_again

pytestmark = linux
POOL = "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\npool.submit(int).result()\n"
THEIRS = POOL + "theirs = lambda s: pool.submit(torch.softmax, s, -1).result()\n"  # a thread that no guard was told of
UNTOUCHED = "def softmax(scores):\n    return scores"
OWN = "def softmax(scores):\n    e = (scores - scores.amax(-1, keepdim=True)).exp()\n    return e / e.sum(-1, keepdim=True)"


def graded(*cells):
    result = graded_alone("2.1", *cells)
    (exercise,) = result["exercises"]
    return exercise["outcome"], exercise["earned"] > 0, result["review"], result["noticed"], exercise["message"]


BESIDE = {
    "IPython's push": "get_ipython().push({'softmax': theirs})",
    "vars": "vars()['softmax'] = theirs",
    "a timer": "import threading, time\nthreading.Timer(0.01, lambda: globals().update(softmax=theirs)).start()\ntime.sleep(0.3)",
}


@pytest.mark.parametrize("way", BESIDE)
def test_a_name_bound_in_another_cell(way):
    outcome, earned, review, noticed, _ = graded(ANSWER, UNTOUCHED, "x = 1", THEIRS + BESIDE[way])
    assert (outcome, review) == ("right", True) and earned  # a person decides
    assert noticed == [line for line in noticed if "answer 2.1: by itself it is not right" in line]
    assert "what stands in an extra cell (2) makes it right" in noticed[0]


def test_the_result_holds_the_cell_that_is_named():
    cell = THEIRS + BESIDE["vars"]
    assert graded_alone("2.1", ANSWER, UNTOUCHED, "x = 1", cell)["cells"] == {"an extra cell (2)": cell}


MATH = "import math\ndef softmax(s):\n    return math.soft(s)"
FILE = "import einops\ndef softmax(s):\n    return einops.theirs(s)"
REACHED = {
    "a module's new function": (
        [THEIRS + "import math\nmath.soft = theirs", ANSWER, MATH],
        "what else stands in an extra cell",
    ),
    "a built-in's new meaning": (
        [THEIRS + "import builtins\nbuiltins.print = theirs", ANSWER, "def softmax(s):\n    return print(s)"],
        "what stands in an extra cell",
    ),
    "a file like a known module": (
        ["%%writefile einops.py\nimport torch\n" + THEIRS, "import sys\nsys.path.insert(0, '.')", ANSWER, FILE],
        "makes it right",
    ),
    "magics in one another": (
        [ANSWER, "%%time\n" * 4 + THEIRS + "def softmax(s):\n    return theirs(s)"],
        "what stands in answer 2.1",
    ),
}


@pytest.mark.parametrize("way", REACHED)
def test_what_the_answer_takes_from_elsewhere(way):
    cells, cause = REACHED[way]
    outcome, _, review, noticed, _ = graded(*cells)
    assert (outcome, review) == ("right", True) and cause in noticed[0]


@pytest.mark.parametrize(
    "cells",
    [
        (ANSWER, THEIRS + "def softmax(s):\n    return theirs(s)"),
        (THEIRS, ANSWER, "def softmax(s):\n    return theirs(s)"),
        (ANSWER, UNTOUCHED, THEIRS + "softmax.__code__ = (lambda s: theirs(s)).__code__"),
    ],
)
def test_what_is_off_limits_is_refused_in_every_thread(cells):
    outcome, earned, _, _, message = graded(*cells)
    assert (outcome, earned) == ("off limits", False) and "torch.softmax is off limits" in message


HOOK = """def cosine(a, b):
    out, x = [], torch.zeros(1, requires_grad=True)
    x.register_hook(lambda _: out.append(torch.cosine_similarity(a, b, dim=-1)))
    x.sum().backward()
    return out[0]"""


def test_what_is_off_limits_is_refused_where_pytorch_calls_it_back():
    """No watchman of a thread sees it there."""
    assert graded_alone("1.2", ANSWER, HOOK)["exercises"][0]["outcome"] == "off limits"


def test_what_python_reports_of_an_answer_is_shown():
    outcome, _, review, noticed, _ = graded(ANSWER, OWN.replace("    e =", "    open('kept', 'w').close()\n    e ="))
    assert (outcome, review, noticed) == ("right", True, ["answer 2.1: while it ran, Python reported open"])


@pytest.mark.parametrize("about", ["in lists, and joins them all again", "numpy, keys and values of each step"])
def test_a_right_cache_is_shown_where_its_work_is_not_counted(about):
    (answer,) = (one for one in recorded_answers("7.7") if one.is_right and about in one.about)
    result = graded_alone("7.7", ANSWER, answer.text)
    assert (result["earned"], result["review"]) == (5, "numpy" in about), result


SHIFTED = OWN.replace("(scores - scores.amax(-1, keepdim=True))", "shifted(scores)")
POOLED = (
    POOL
    + OWN.replace("def softmax", "def own")
    + "\ndef softmax(scores):\n    return pool.submit(own, scores).result()"
)


@pytest.mark.parametrize(
    "cells",
    [
        (ANSWER, OWN),
        ("def shifted(s):\n    return s - s.amax(-1, keepdim=True)", ANSWER, SHIFTED),
        (ANSWER, OWN + "\nx = torch.ones(2)\nassert torch.allclose(softmax(x), F.softmax(x, -1))"),
        (ANSWER, POOLED),
        ("import asyncio\nfactor = await asyncio.sleep(0, 1)", ANSWER, OWN + " * factor"),
        ("from __future__ import annotations", ANSWER, OWN.replace("(scores):", "(scores: Unknown):")),
    ],
)
def test_an_answer_of_ones_own_is_right_again(cells):
    outcome, _, review, noticed, message = graded(*cells)
    assert (outcome, review) == ("right", False), (noticed, message)


def test_where_nothing_is_off_limits_once_is_enough():
    assert [number for number in ("1.2", "1.4", "1.7", "2.1", "2.2", "3.5") if runs_again(number)] == [
        "1.2",
        "1.4",
        "2.1",
    ]
