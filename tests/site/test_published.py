"""Published under a made-up address: every link that leads to the repository or into Colab leads to a file that is there."""

import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest

ADDRESS = "https://github.com/some-one/their-course"
LINK = re.compile(r"""https://(?:colab\.research\.google\.com/github|github\.com)/[^\s)"'<>&\\]+""")


def git(folder, *arguments):
    done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def published(root, tmp_path_factory):
    """What was pushed, as a bare repository, and the clone that it was pushed from."""
    if not (root / ".git").exists():
        pytest.skip("not a git checkout")
    bare, clone = (tmp_path_factory.mktemp("published") / name for name in ("bare.git", "clone"))
    shutil.copytree(root, clone, ignore=shutil.ignore_patterns(".venv*", "build", ".ruff_cache", "__pycache__"))
    subprocess.run(["git", "init", "-q", "--bare", bare], check=True)
    git(clone, "remote", *(["set-url"] if "origin" in git(clone, "remote") else ["add"]), "origin", f"{ADDRESS}.git")
    run(clone, "course_authoring", "build")
    git(clone, "add", "-A")
    git(clone, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "With the address")
    git(clone, "push", "-q", bare, "HEAD:refs/heads/main")
    return bare, clone


def run(clone, module, *arguments):
    command = [sys.executable, "-m", module, *arguments]
    environment = {name: text for name, text in os.environ.items() if name != "GITHUB_REPOSITORY"}
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def leads_nowhere(links, files):
    """The links to this repository that name no file of its branch ``main``; any other address is somebody else's."""
    wrong = set()
    for link in links:
        name = re.sub(r"https://(colab\.research\.google\.com/github|github\.com)/", "", link)
        if not name.startswith("some-one/"):
            continue
        inside = name.removeprefix("some-one/their-course").removesuffix(".git")
        path = re.fullmatch(r"/blob/main/([^#?]+)(?:[#?].*)?", inside)
        if not (path and path.group(1) in files) and inside not in ("", "/", "/discussions"):
            wrong.add(link)
    return wrong


def test_every_link_of_the_repository_leads_to_a_file(published):
    bare, clone = published
    files = set(git(bare, "ls-tree", "-r", "--name-only", "main").splitlines())
    seen = 0
    for name in files:
        if name.endswith((".ipynb", ".md")):
            links = LINK.findall(git(bare, "show", f"main:{name}"))
            seen += sum("some-one/" in link for link in links)
            assert not leads_nowhere(links, files), name
    assert seen > 100  # at least three a notebook: Colab, the other notebook there, the install cell
    for path in sorted((clone / "notebooks").glob("*.ipynb")):
        assert ADDRESS in "".join(cell.source for cell in nbformat.read(path, 4).cells), path
    outputs_before = [cell.get("outputs") for cell in nbformat.read(clone / "notebooks/05_masking.ipynb", 4).cells]
    assert any(outputs_before)
    assert "no difference" in run(clone, "course_authoring", "check")


@pytest.mark.slow
@pytest.mark.needs("site")
def test_every_link_of_the_site_leads_to_a_file(published):
    bare, clone = published
    files = set(git(bare, "ls-tree", "-r", "--name-only", "main").splitlines())
    assert "no wrong link" in run(clone, "course_site")  # those inside the site
    pages = sorted((clone / "build" / "site").rglob("*.html"))
    links = {link for page in pages for link in LINK.findall(page.read_text(encoding="utf-8"))}
    assert f"{ADDRESS}/discussions" in links and not leads_nowhere(links, files)


def test_a_link_to_no_file_would_be_found():
    colab = "https://colab.research.google.com/github/some-one/their-course/blob/main/notebooks/"
    links = {f"{colab}05.ipynb", f"{colab}06.ipynb", f"{ADDRESS}/wiki", f"{ADDRESS}.git", "https://github.com/pytorch"}
    assert leads_nowhere(links, {"notebooks/05.ipynb"}) == {f"{colab}06.ipynb", f"{ADDRESS}/wiki"}
