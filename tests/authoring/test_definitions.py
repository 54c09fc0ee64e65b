"""What one file binds and uses, and its code as text that does not depend on layout or on the Python release."""

import ast
import hashlib
from pathlib import Path

import pytest

from course_authoring.definitions import Module, names_in, plain


def chains(code):
    return {".".join(chain) for chain in names_in([ast.parse(code)]).chains}


def test_names_are_taken_with_their_attributes():
    assert chains("a.b.c(d) + e[f.g].h") == {"a.b.c", "d", "e", "f.g"}


@pytest.mark.parametrize(
    ("code", "outside"),
    [
        ("def f(masks): return masks.x", set()),
        ("def f(x=masks): return x", {"masks"}),
        ("def f():\n    masks = 1\n    return masks", set()),
        ("def f():\n    global masks\n    masks = 1\n    return masks", {"masks"}),
        ("def f():\n    def g(): return masks\n    masks = 1", set()),
        ("def f():\n    from a import masks\n    return masks.x", {"masks.x"}),
        ("(lambda masks: masks.x + y.z)", {"y.z"}),
        ("[masks.x for masks in masks]", {"masks"}),
        ("class A:\n    masks = masks", {"masks"}),
        ("@masks.deco\ndef f(x: masks.T) -> masks.R: pass", {"masks.deco", "masks.T", "masks.R"}),
    ],
)
def test_local_variables_are_not_taken_from_outside(code, outside):
    assert chains(code) == outside


def test_imports_say_where_a_name_comes_from():
    found = names_in([ast.parse("import a.b\nimport c.d as e\nfrom ..f import g as h")], ("p", "q")).imports
    assert found == {"a": [(("a",), ())], "e": [(("c", "d"), ())], "h": [(("p", "f"), ("g",))]}


def module(text, name="m"):
    return Module(("p", name), Path(f"p/{name}.py"), text)


def test_statements_that_do_something_always_count():
    found = module(
        "X = 1\nprint(X)\nY[0] = 2\ndef f(): pass\nif X:\n    def g(): pass\nif __name__ == '__main__':\n    f()"
    )
    assert found.always == [1, 2, 4] and found.bound == {"X": [0], "f": [3], "g": [4]}


SAME = '''
"""Of the module."""
import math  # for f


def f(x,
      y = 'a'):   # a comment
    """Of the function."""
    return (math
            .sqrt(x))
'''


def test_layout_comments_and_docstrings_leave_the_code_the_same():
    one, other = module(SAME), module("import math\ndef f(x, y='a'):\n    return math.sqrt(x)\n")
    assert one.code([0, 1], ["math"]) == other.code([0, 1], ["math"])


def test_a_note_of_a_student_s_progress_leaves_the_code_the_same():
    noted = "def f(x):\n    g(x)\n    progress_log.passed(x, masks.y)\n"
    assert plain(ast.parse(noted)) == plain(ast.parse("def f(x):\n    g(x)\n"))
    assert chains(noted) == {"g"}
    for code in ("x = progress_log.show()", "f(progress_log.show())", "log.passed(1)", "progress_log"):
        assert plain(ast.parse(code)) != plain(ast.parse(""))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 2"),
        ("x = 1", "x = 1.0"),
        ("x = 'a'", "x = b'a'"),
        ("x = f'{a},{b}'", "x = f'{a}{b}'"),
        ("x = f'{a!r}'", "x = f'{a}'"),
        ("x = [None, a]", "x = [a]"),
        ("x = (a, b)", "x = [a, b]"),
        ("x = {**a}", "x = {None: a}"),
        ("x = 'y'", "x = y"),
        ("def f(a, *, b): pass", "def f(a, b): pass"),
    ],
)
def test_what_means_something_else_reads_differently(one, other):
    assert plain(ast.parse(one)) != plain(ast.parse(other))


EVERYTHING = r'''
from __future__ import annotations
@d
class A(B, metaclass=M):
    x: int = 1
    """Of x."""
    def f(self, a, /, b=2, *c, d: "T" = None, **e) -> None:
        """Doc."""
        yield from (i for i in a if i)
        return f"a{a!r:>{b}} b" "c" f'{c=} {{}} {d:.2f}' 'it\'s "so" \ü\n'
async def g(): return [await h async for h in k]
try:
    x, *y = 1, 2.5e-3, 3j, ..., None, True, b"\x00", -1, ~z, 10**20
except (E, F) as error: raise G from error
finally: del x[1:2, ::3]
with a as b, c: x += lambda q: not q if q else {1: 2, **r}
match v:
    case {"k": [1, *rest]} | A(x=2) if rest: pass
    case _: assert x, "no"
while (n := n - 1) > 0 <= 3 != 4: continue
else: global_ = {1, 2} @ m
'''


def test_every_python_release_reads_the_same():
    """CI runs this on the lowest and the newest Python that the course admits."""
    digest = hashlib.sha256(plain(ast.parse(EVERYTHING)).encode()).hexdigest()
    assert digest[:12] == "ac84fe5d8f39"
