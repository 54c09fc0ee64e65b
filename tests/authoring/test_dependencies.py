"""What of the library a notebook depends on: the modules that it imports, directly or through others, and their data."""

import ast
import re

import pytest

from course_authoring.dependencies import CHECKS, Library, code_of, read_record, write_record
from course_authoring.errors import AuthoringError

FILES = {
    "course_utils/__init__.py": "",
    "course_utils/low.py": "X = 1\n",
    "course_utils/middle.py": "import torch\nfrom .low import X\n",
    "course_utils/late.py": "def late():\n    from course_utils import low\n",
    "course_utils/alone.py": "Y = 1\n",
    "course_utils/package/__init__.py": "from .one import one\n",
    "course_utils/package/one.py": "from ..alone import Y\n",
    "course_utils/package/two.py": "import course_utils.middle as m\n",
    "course_utils/package/data/weights.csv": "\0\r\n1",
    "course_utils/package/data/.hidden": "a",
    "course_utils/package/page.js": "show()\n",
    "course_checks/__init__.py": "from .engine import check\n",
    "course_checks/engine.py": "from .deciding import find\n",
    "course_checks/deciding/__init__.py": "",
    "course_checks/deciding/find.py": "import importlib\n",
    "course_checks/deciding/solutions.json": '{"5.1": {"text": "x"}, "6.1": {"text": "y"}}\n',
    "course_checks/running/drivers/lesson_05.py": "from course_utils.low import X\n",
    "course_checks/running/drivers/lesson_06.py": "",
    "course_checks/lesson_05/first.py": "from .common import A\n",
    "course_checks/lesson_05/common.py": "A = 1\n",
    "course_checks/lesson_06/first.py": "A = 1\n",
}
CHECK = "from course_checks import check"


@pytest.fixture
def library(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    return tmp_path


@pytest.mark.parametrize(
    ("code", "file", "old", "new", "matters"),
    [
        ("from course_utils.low import X", "course_utils/low.py", "1", "2", True),
        ("from course_utils.low import X", "course_utils/low.py", "1", "1  # one", False),
        ("from course_utils.low import X", "course_utils/alone.py", "1", "2", False),
        ("from course_utils import middle", "course_utils/low.py", "1", "2", True),
        ("import course_utils.late as l", "course_utils/low.py", "1", "2", True),
        ("def f():\n    import course_utils.middle", "course_utils/low.py", "1", "2", True),
        ("from course_utils import package", "course_utils/alone.py", "1", "2", True),
        ("from course_utils.package import two", "course_utils/low.py", "1", "2", True),
        ("from course_utils.package import two", "course_utils/alone.py", "1", "2", True),
        ("from course_utils.package import two", "course_utils/__init__.py", "", "Z = 1", True),
        ("from course_utils import package", "course_utils/low.py", "1", "2", False),
        ("from course_utils import package", "course_utils/package/data/weights.csv", "1", "2", True),
        ("from course_utils import package", "course_utils/package/data/weights.csv", "\r\n", "\n", True),
        ("from course_utils import package", "course_utils/package/data/.hidden", "a", "b", False),
        ("from course_utils import package", "course_utils/package/page.js", "show", "hide", True),
        ("from course_utils import package", "course_utils/package/page.js", "\n", "\r\n", False),
        ("from course_utils import middle", "course_utils/package/page.js", "show", "hide", False),
        (CHECK, "course_checks/deciding/find.py", "importlib", "torch", True),
        (CHECK, "course_checks/lesson_05/common.py", "1", "2", True),
        (CHECK, "course_checks/lesson_06/first.py", "1", "2", False),
        (CHECK, "course_checks/running/drivers/lesson_06.py", "", "X = 1", False),
        (CHECK, "course_checks/deciding/solutions.json", '"x"', '"z"', True),
        (CHECK, "course_checks/deciding/solutions.json", '"y"', '"z"', False),
        (CHECK, "course_utils/low.py", "1", "2", True),  # by the lesson's driver
        ("import torch", "course_utils/low.py", "1", "2", False),
    ],
)
def test_the_digest_follows_the_imports(library, code, file, old, new, matters):
    before, path = Library(library).digest([code], {5}), library / file
    data = path.read_bytes()
    assert old.encode() in data
    path.write_bytes(data.replace(old.encode(), new.encode(), 1))
    assert (Library(library).digest([code], {5}) != before) == matters


def test_a_module_that_is_not_python_is_named(library):
    (library / "course_utils/low.py").write_text("def f(:\n")
    with pytest.raises(AuthoringError, match=r"course_utils/low\.py: syntax error at line 1"):
        Library(library).digest(["from course_utils import middle"], {5})


CODE = '''
"""Of the module."""
import math  # for f


class A:  # "#"
    """Of the class.

    On two lines."""

    x = (1,

         # between
         """#  a string

that goes on""")
    def f(self): "On the line."
'''
SAME = '''import math
class A:
    x = (1,
         """#  a string

that goes on""")
    def f(self): "On the line."
'''


def test_comments_docstrings_and_empty_lines_do_not_count():
    assert code_of(CODE, ast.parse(CODE)) == SAME


def test_the_record_is_read_as_it_was_written_and_after_a_merge_of_two(tmp_path):
    assert read_record(tmp_path) == {}
    (tmp_path / "sources").mkdir()
    write_record(tmp_path, {"notebooks/b.ipynb": "2", "notebooks/a.ipynb": "1"})
    text = (tmp_path / "sources/built_with.txt").read_text()
    assert text == "1  notebooks/a.ipynb\n2  notebooks/b.ipynb\n"
    (tmp_path / "sources/built_with.txt").write_text(f"3  notebooks/a.ipynb\n{text}=======\n")
    read = read_record(tmp_path)
    assert (read["notebooks/a.ipynb"], read["notebooks/b.ipynb"]) == ("1", "2")


WORKED_OUT = re.compile(r"import_module|__import__|\bimport \*|\bglobals\(|__subclasses__")


def test_imports_can_be_read(root):
    """Outside the checks no module is imported by a name worked out at run time: the digest could not see it."""
    paths = [path for package in ("course_utils", CHECKS) for path in (root / package).rglob("*.py")]
    at_run_time = {path.name for path in paths if WORKED_OUT.search(path.read_text(encoding="utf-8"))}
    # an exercise's file, its driver, what is off limits; and what a cell imports itself, for another process
    assert at_run_time == {"find.py", "call.py", "guard.py", "sending.py"}
