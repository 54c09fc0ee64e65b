"""A small project of its own for the build's tests."""

import shutil
from pathlib import Path

import pytest

from course_authoring.build import build

HEADER = "# ---\n# jupyter:\n#   kernelspec:\n#     display_name: Python 3\n#     name: python3\n# ---\n\n"

LESSON = (
    HEADER
    + """# %% [markdown]
# # 05 · Masking
#
# By the end you can mask.
#
# {{colab_link}} · short path about 66 minutes with its exercises (40 + 26), everything about 3½ hours
#
# {{next_steps}}

# %% tags=["setup"]
import math

# %% [markdown]
# ## 5.1 An idea

# %%
print(math.sqrt(16))

# %% tags=["nbval-ignore-output"]
import os
print(os.getpid())
"""
)

EXERCISES = (
    HEADER
    + """# %% [markdown]
# # 05 · Masking: exercises
#
# Two exercises on {{lesson_link}}.

# %% tags=["setup"]
# stands in for the course's own
def check(number, answer):
    assert answer in (2, "b") or answer(3) == 9, f"{number} not yet"

# %% [markdown]
# ### 5.1 · Square
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Square it.

# %% tags=["exercise"]
def square(x):
    # BEGIN SOLUTION
    result = x * x
    return result
    # END SOLUTION


# %% tags=["check"]
check("5.1", square)

# %% [markdown] tags=["hint"]
# <details><summary>Hint</summary>A number times itself.</details>

# %% [markdown] tags=["solution"]
# Why it works: squaring is repeated multiplication.

# %% [markdown]
# ### 5.2 · Choose
# 1 point · difficulty 1 of 5 · 1 minute · more
#
# - **a.** one
# - **b.** $x_1$, two

# %% tags=["quiz"]
quiz_5_2 = ""  # your letter
# BEGIN SOLUTION
quiz_5_2 = "b"
# END SOLUTION

# %% [markdown] tags=["solution"]
# - **a.** one is too few.
# - **b.** two is enough, said in a line
#   and a half.

# %% tags=["check"]
check("5.2", quiz_5_2)
"""
)

README = "# Course\n\n<!-- lessons: made by `make build`, do not edit -->\n<!-- end of lessons -->\n\nThe end.\n"
PYPROJECT = '[project]\nname = "x"\n[project.urls]\nRepository = "https://github.com/someone/course"\n'


def lay_out(folder: Path) -> Path:
    for kind in ("lessons", "exercises"):
        (folder / "sources" / kind).mkdir(parents=True)
    (folder / "sources/lessons/05_masking.py").write_text(LESSON, encoding="utf-8")
    (folder / "sources/exercises/05_masking.py").write_text(EXERCISES, encoding="utf-8")
    (folder / "README.md").write_text(README, encoding="utf-8")
    (folder / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with one lesson and one exercise source, not yet built."""
    return lay_out(tmp_path)


@pytest.fixture(scope="session")
def built_once(tmp_path_factory) -> Path:
    folder = lay_out(tmp_path_factory.mktemp("built"))
    build(folder)
    return folder


@pytest.fixture
def built(built_once, project) -> Path:
    """``project``, built."""
    return shutil.copytree(built_once, project, dirs_exist_ok=True)


@pytest.fixture
def edit(project: Path):
    """Replace text in a source of the project: ``edit(old, new)`` in the exercises, or in the file named third."""

    def replace(old: str, new: str, path: str = "sources/exercises/05_masking.py") -> None:
        text = (project / path).read_text(encoding="utf-8")
        assert old in text
        (project / path).write_text(text.replace(old, new, 1), encoding="utf-8")

    return replace


@pytest.fixture
def put_mistakes(edit):
    """Put a table of known mistakes below the answer of 5.1."""

    def put(table: str) -> None:
        lines = "\n".join(f"# {line}".rstrip() for line in table.split("\n"))
        check = '# %% tags=["check"]\ncheck("5.1"'
        edit(check, f'# %% [markdown] tags=["mistakes"]\n{lines}\n\n{check}')

    return put
