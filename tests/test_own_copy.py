"""A student's own copy: links work in it, nothing in it is overwritten, and git sees none of it."""

import json
import re
import shutil
import subprocess

import pytest

from course_utils import own_copy

LINK = re.compile(r"\]\((\.\.?/[^)#\s]+)")


@pytest.fixture
def course(root, tmp_path):
    """A clone of a course that has the real notebooks."""
    upstream, clone = tmp_path / "upstream", tmp_path / "clone"
    for name in ("notebooks", "exercises"):
        shutil.copytree(root / name, upstream / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    (upstream / "docs").mkdir()
    for name in (".gitignore", "docs/glossary.md"):
        shutil.copyfile(root / name, upstream / name)
    git(upstream, "init", "-q", "-b", "main")
    commit(upstream)
    git(tmp_path, "clone", "-q", upstream, clone)
    return clone


def git(folder, *arguments):
    done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x")


def work_in(path):
    """What a student leaves behind: a cell more, outputs, as JupyterLab saves it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"].append({"cell_type": "raw", "id": "mine", "metadata": {}, "source": "my note"})
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path.read_bytes()


def test_every_link_of_the_copy_leads_to_a_file_of_the_copy(course):
    own_copy.copy_notebooks(course)
    seen = 0
    for path in (course / "my").rglob("*.*"):
        for link in LINK.findall(path.read_text(encoding="utf-8")):
            target = (path.parent / link).resolve()
            assert target.is_file() and target.is_relative_to(course / "my"), f"{path}: {link}"
            seen += 1
    assert seen > 200


def test_nothing_has_run_in_a_copy_and_nothing_else_differs(course):
    own_copy.copy_notebooks(course)
    for original in course.glob("*/*.ipynb"):
        cells = [
            json.loads(path.read_text(encoding="utf-8"))["cells"]
            for path in (original, course / "my" / original.relative_to(course))
        ]
        assert [cell["source"] for cell in cells[0]] == [cell["source"] for cell in cells[1]]
        ran = [
            cell
            for cell in cells[1]
            if cell.get("outputs") or cell.get("execution_count") or "collapsed" in cell["metadata"]
        ]
        assert ran == [], original


def test_git_sees_nothing_of_it_and_a_pull_finds_nothing_in_its_way(course):
    own_copy.copy_notebooks(course)
    mine = work_in(course / "my" / "notebooks" / "05_masking.ipynb")
    assert git(course, "status", "--porcelain") == ""
    for name in ("05_masking.ipynb", "06_multi_head_attention.ipynb"):
        newer = work_in(course.parent / "upstream" / "notebooks" / name)
    commit(course.parent / "upstream")
    git(course, "pull", "-q")
    added, outdated = own_copy.copy_notebooks(course)
    assert (added, outdated) == (["notebooks/06_multi_head_attention.ipynb"], ["notebooks/05_masking.ipynb"])
    copies = course / "my" / "notebooks"
    assert (copies / "05_masking.ipynb").read_bytes() == mine
    newest = json.loads((copies / "06_multi_head_attention.ipynb").read_text(encoding="utf-8"))
    assert newest["cells"][-1] == json.loads(newer)["cells"][-1]  # nobody had changed it
    assert own_copy.copy_notebooks(course) == ([], ["notebooks/05_masking.ipynb"])


def test_what_is_new_is_added_and_what_was_put_aside_comes_fresh(course, capsys):
    own_copy.main(["--course", str(course)])
    kept = work_in(course / "my" / "exercises" / "05_masking.ipynb")
    (course / "notebooks" / "99_new.ipynb").write_text('{"cells": []}')
    (course / "my" / "notebooks" / "05_masking.ipynb").rename(course / "my" / "notebooks" / "05_first_try.ipynb")
    (course / "docs" / "glossary.md").write_text("newer")
    assert own_copy.copy_notebooks(course) == (["notebooks/05_masking.ipynb", "notebooks/99_new.ipynb"], [])
    assert (course / "my" / "exercises" / "05_masking.ipynb").read_bytes() == kept
    assert (course / "my" / "docs" / "glossary.md").read_text() == "newer"
    assert "copied into my/" in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["{", "[]"])
def test_a_damaged_record_overwrites_nothing(course, damage):
    own_copy.copy_notebooks(course)
    mine = work_in(course / "my" / "notebooks" / "05_masking.ipynb")
    (course / "my" / ".copied.json").write_text(damage)
    assert own_copy.copy_notebooks(course) == ([], [])
    assert (course / "my" / "notebooks" / "05_masking.ipynb").read_bytes() == mine


def test_another_folder_is_refused_in_words(tmp_path, capsys):
    assert own_copy.main(["--course", str(tmp_path)]) == 1
    assert "holds no notebooks" in capsys.readouterr().err and not (tmp_path / "my").exists()


def test_make_lab_opens_the_copy(root):
    recipe = re.search(r"^lab: .*\n((?:\t.*\n)+)", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert recipe.index("-m course_utils.own_copy") < recipe.index(
        "default_url=/lab/tree/my/notebooks/quick_tour.ipynb"
    )
