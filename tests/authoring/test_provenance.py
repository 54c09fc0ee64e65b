"""Which parts of the library a notebook depends on: what its cells name, what that names, and nothing else."""

import ast
import os
import re
import subprocess
import sys

import pytest

from course_authoring.definitions import names_in
from course_authoring.errors import AuthoringError
from course_authoring.provenance import CHECKS, PACKAGES, Library, changes

FILES = {
    "__init__.py": "",
    "low.py": "X = 1\n\n\ndef f():\n    return X\n\n\ndef g():\n    return 2\n",
    "middle.py": "from .low import f\nimport torch\n\n\ndef h():\n    return f() + torch.pi\n\n\ndef k():\n    return 3\n",
    "package/__init__.py": "from .one import one\nfrom .two import two\n\n__all__ = ['one', 'two']\n",
    "package/one.py": "from .. import low\n\n\ndef one():\n    return low.g()\n",
    "package/one.js": "show()\n",
    "package/two.py": "from course_utils.middle import h\n\n\ndef two():\n    return h()\n",
    "models/__init__.py": "FOLDER = __file__\n\n\ndef load(folder=FOLDER):\n    pass\n\n\ndef sizes():\n    pass\n",
    "models/small.weights": "\0\r\n1",
    "models/.hidden": "a",
    "progress_log.py": "def passed(number):\n    return number\n",
    "course_checks/__init__.py": "from .engine import check\n",
    "course_checks/engine.py": (
        "import importlib\nfrom course_utils import progress_log\n\n\n"
        "def check(number, answer):\n    from .deciding.solution import carried\n"
        "    importlib.import_module(number + carried)\n    progress_log.passed(number)\n"
    ),
    "course_checks/deciding/solution.py": "FILE = __file__\n\n\ndef carried():\n    return FILE\n",
    "course_checks/deciding/solutions.json": '{"5.1": {"text": "x"}, "6.1": {"text": "y"}}\n',
    "course_checks/running/drivers/lesson_05.py": "from course_utils.low import g\n\n\ndef drive():\n    return g()\n",
    "course_checks/running/drivers/lesson_06.py": "def drive():\n    return 1\n",
    "course_checks/lesson_05/__init__.py": "",
    "course_checks/lesson_05/first.py": "from .common import SHUT\nEXERCISE = (SHUT, 5)\n",
    "course_checks/lesson_05/common.py": "SHUT = ('course_utils.middle.k',)\n",
    "course_checks/lesson_06/first.py": "EXERCISE = ()\n",
}  # fmt: skip


def at(root, name):
    return root / (name if name.startswith("course_checks/") else f"course_utils/{name}")


@pytest.fixture
def library(tmp_path):
    for name, text in FILES.items():
        path = at(tmp_path, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return tmp_path


def provenance(root, code, lesson=5):
    found = Library(root).provenance(names_in([ast.parse(code)]), lesson)
    return {name.removeprefix("course_utils/"): digest for name, digest in found.items()}


CHECK = "from course_checks import check\n"


@pytest.mark.parametrize(
    ("code", "old", "new", "matters"),
    [
        ("from course_utils.middle import h", ("low.py", "X = 1"), "X = 2", True),
        ("from course_utils.middle import h", ("low.py", "X = 1"), "X = 1  # one", False),
        ("from course_utils.middle import h", ("low.py", "return 2"), "return 3", False),
        ("from course_utils.middle import h", ("middle.py", "import torch"), "import numpy as torch", True),
        ("from course_utils.middle import k", ("middle.py", "import torch"), "import numpy as torch", False),
        ("from course_utils.middle import k", ("middle.py", "import torch"), "import torch\nprint(1)", True),
        ("import course_utils.middle as m\nm.k()", ("low.py", "X = 1"), "X = 2", False),
        ("import course_utils.middle\ncourse_utils.middle.h()", ("low.py", "X = 1"), "X = 2", True),
        ("from course_utils import middle", ("middle.py", "return 3"), "return 4", False),
        ("from course_utils import middle\nvars(middle)", ("middle.py", "return 3"), "return 4", True),
        ("from course_utils import middle\nmiddle.new", ("middle.py", "return 3"), "return 4", True),
        ("from course_utils import package\npackage.one()", ("package/two.py", "h()"), "h() + 1", False),
        ("from course_utils import package\npackage.one()", ("package/one.js", "show()"), "hide()", True),
        ("from course_utils import package\npackage.two()", ("package/one.js", "show()"), "hide()", False),
        ("from course_utils import package\npackage.two()", ("low.py", "X = 1"), "X = 2", True),
        ("from course_utils.package import one", ("package/__init__.py", "'two']"), "'two', 'x']", False),
        ("from course_utils import models\nmodels.load()", ("models/small.weights", "1"), "2", True),
        ("from course_utils import models\nmodels.load()", ("models/small.weights", "\r\n"), "\n", True),
        ("from course_utils import models\nmodels.load()", ("models/.hidden", "a"), "b", False),
        ("from course_utils import models\nmodels.sizes()", ("models/small.weights", "1"), "2", False),
        (CHECK, ("course_checks/lesson_05/first.py", "5)"), "6)", True),
        (CHECK, ("course_checks/lesson_05/first.py", "5)"), "5)  # five", False),
        (CHECK, ("course_checks/running/drivers/lesson_05.py", "return g()"), "return g() + 1", True),
        (CHECK, ("course_checks/running/drivers/lesson_06.py", "return 1"), "return 2", False),
        (CHECK, ("course_checks/deciding/solutions.json", '"x"'), '"z"', True),
        (CHECK, ("course_checks/deciding/solutions.json", '"y"'), '"z"', False),
        (CHECK, ("progress_log.py", "return number"), "return 0", False),
        (CHECK, ("course_checks/engine.py", "    progress_log.passed(number)\n"), "", False),
        (
            "from course_utils import progress_log\nprint(progress_log.passed(1))",
            ("progress_log.py", "return number"),
            "return 0",
            True,
        ),
        (CHECK, ("low.py", "return 2"), "return 3", True),
        (CHECK, ("low.py", "X = 1"), "X = 2", False),
        (CHECK, ("middle.py", "return 3"), "return 4", True),
        (CHECK, ("course_checks/lesson_06/first.py", "()"), "(1,)", False),
        (CHECK + "check('6.1', 1)", ("course_checks/lesson_06/first.py", "()"), "(1,)", True),
        (CHECK + "check('6.1', 1)", ("course_checks/deciding/solutions.json", '"y"'), '"z"', True),
        ("from course_utils.low import g\ng('6.1')", ("course_checks/lesson_06/first.py", "()"), "(1,)", False),
        ("import inspect\nfrom course_utils.low import g", ("low.py", "X = 1"), "X = 1  # one", True),
        ("from course_utils.low import g\nhelp(g)", ("low.py", "X = 1"), "X = 1  # one", True),
    ],
)
def test_provenance_follows_the_names(library, code, old, new, matters):
    (name, text), path = old, at(library, old[0])
    before = provenance(library, code)
    data = path.read_bytes()
    assert text.encode() in data
    path.write_bytes(data.replace(text.encode(), new.encode(), 1))
    after = provenance(library, code)
    assert (before != after) == matters
    if matters:
        assert {file for file in {*before, *after} if before.get(file) != after.get(file)} == {name}


def test_it_lists_what_is_reached_and_no_more(library):
    assert set(provenance(library, "from course_utils.package import two")) == {
        "package/__init__.py", "package/two.py", "middle.py", "low.py",
    }  # fmt: skip
    assert provenance(library, "import torch\nfrom course_utils import low") == {}


def test_line_endings_do_not_count(library):
    before = provenance(library, "from course_utils.package import one")
    with_checks = provenance(library, CHECK)
    for path in library.rglob("*.[pj]*"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert provenance(library, "from course_utils.package import one") == before
    assert provenance(library, CHECK) == with_checks


def test_a_broken_library_file_is_named(library):
    (library / "course_utils" / "low.py").write_text("def f(:\n")
    with pytest.raises(AuthoringError, match=r"course_utils/low\.py: syntax error at line 1"):
        provenance(library, "from course_utils.low import f")


def test_changes_are_told_in_a_sentence():
    now = {"a.py": "1", "b.py": "2"}
    assert changes(now, now) is None
    assert changes({"a.py": "1", "c.py": "2"}, now) == "b.py, c.py changed since it was run"
    assert changes({}, dict.fromkeys("abcde", "1")) == "a, b, c and 2 more changed since it was run"
    assert changes(None, now) == changes("old", now) == "it does not say with which library it was run"


def test_it_is_the_same_in_every_process(root):
    """What is written into notebooks must not hang on the order of sets."""
    code = (
        "import ast, json; from pathlib import Path; from course_authoring.definitions import names_in;"
        "from course_authoring.provenance import Library;"
        "cells = [ast.parse('from course_checks import check; from course_utils import widgets; widgets.kernels')];"
        "print(json.dumps(Library(Path().resolve()).provenance(names_in(cells), 5)))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(said) == 1 and "course_checks/lesson_05/masked_softmax.py" in said.pop()


WORKED_OUT = re.compile(r"import_module|__import__|\bimport \*|\bglobals\(|__subclasses__")


def test_imports_can_be_read(root):
    """Outside the checks no module is imported by a name worked out at run time: provenance could not see it."""
    for path in (root / "course_utils").rglob("*.py"):
        if path.relative_to(root).parts[1] != "checks":
            assert not WORKED_OUT.search(path.read_text(encoding="utf-8")), path
    at_run_time = {path.name for path in (root / CHECKS).rglob("*.py") if WORKED_OUT.search(path.read_text())}
    assert at_run_time == {"find.py", "call.py", "guard.py"}  # an exercise's file, its driver, what is off limits


STATE = """
import importlib, random, warnings, matplotlib, numpy, torch
def state():
    return (random.getstate(), str(numpy.random.get_state()), torch.get_rng_state().tolist(), torch.get_default_dtype(),
            torch.is_grad_enabled(), str(torch.__config__.parallel_info()), dict(matplotlib.rcParams), list(warnings.filters))
import ipywidgets, tqdm, jaxtyping, safetensors.torch, matplotlib.figure
before = state()
for name in NAMES:
    importlib.import_module(name)
    assert state() == before, name
"""


def test_importing_a_module_changes_nothing_outside_it(root):
    """Provenance leaves out what a notebook imports without using it, so that must not matter."""
    paths = [path for package in PACKAGES for path in (root / package).rglob("*.py")]
    files = [path.relative_to(root).with_suffix("").parts for path in paths]
    names = sorted(".".join(parts) for parts in files if parts[-1][0] != "_")
    done = subprocess.run(
        [sys.executable, "-c", f"NAMES = {names!r}" + STATE], capture_output=True, text=True, check=False, cwd=root
    )
    assert done.returncode == 0, done.stderr[-1000:]
