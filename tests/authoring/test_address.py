"""Where the public address comes from."""

import subprocess

import pytest

from course_authoring.address import public_address


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n')
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def add_remote(folder, address):
    subprocess.run(["git", "remote", "add", "origin", address], cwd=folder, check=True)


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/some-one/a.course",
        "https://github.com/some-one/a.course.git",
        "https://some-one:secret@github.com/some-one/a.course.git",
        "git@github.com:some-one/a.course.git",
        "ssh://git@github.com/some-one/a.course/",
    ],
)
def test_the_remote_gives_it(repository, remote):
    add_remote(repository, remote)
    assert public_address(repository) == "https://github.com/some-one/a.course"


@pytest.mark.parametrize(
    "remote", [None, "/srv/git/course.git", "https://example.org/some/course", "https://github.com/one"]
)
def test_without_a_repository_on_github_there_is_none(repository, remote):
    if remote:
        add_remote(repository, remote)
    assert public_address(repository) is None


def test_a_folder_without_git_asks_for_no_other_folders_remote(repository):
    add_remote(repository, "https://github.com/a/b")
    (repository / "inner").mkdir()
    (repository / "inner" / "pyproject.toml").write_text("")
    assert public_address(repository / "inner") is None


def test_what_is_written_down_comes_first_then_the_workflow(repository, monkeypatch):
    add_remote(repository, "https://github.com/from/remote")
    monkeypatch.setenv("GITHUB_REPOSITORY", "from/workflow")
    assert public_address(repository) == "https://github.com/from/workflow"
    (repository / "pyproject.toml").write_text('[project.urls]\nRepository = "https://github.com/written/down"\n')
    assert public_address(repository) == "https://github.com/written/down"
