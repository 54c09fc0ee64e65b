"""Set-up of all tests: every call of the library checks the shapes that its signature promises.

jaxtyping's import hook must be in place before the library is imported, hence at the top of this file.
"""

import os
from pathlib import Path

# Test processes run side by side; torch's threads in each of them would stand in one another's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import jaxtyping  # noqa: E402
import pytest  # noqa: E402
from needs import pytest_configure, pytest_runtest_setup, pytest_sessionfinish  # noqa: E402, F401

ROOT = Path(__file__).resolve().parent.parent
# All but the checks, whose business is plain Python.
CHECKED = {path.stem for path in (ROOT / "course_utils").iterdir()} - {"__init__", "__pycache__", "checks"}
LIBRARY = [f"course_utils.{name}" for name in sorted(CHECKED)] + ["experiments"]
jaxtyping.install_import_hook(LIBRARY, "typechecker.checker")


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture
def as_a_user():
    """Signatures are not enforced, as outside the tests: for tests of the library's own messages about bad input."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
