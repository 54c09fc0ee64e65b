"""The repository's public address, if it has one. Without one, no notebook and no page links to it or to Colab."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

OF_GITHUB = re.compile(r"(?:https://(?:[^@/]+@)?|ssh://git@|git@)github\.com[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?")


def public_address(root: Path) -> str | None:
    """Where others find this repository on GitHub; None while nothing says so.

    In this order: ``[project.urls] Repository`` of pyproject.toml, the repository whose workflow runs this
    (``GITHUB_REPOSITORY``), git's remote called ``origin``. A remote that is elsewhere counts for nothing: Colab opens
    notebooks from GitHub alone.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
    name = os.environ.get("GITHUB_REPOSITORY")
    said = project.get("urls", {}).get("Repository") or (name and f"https://github.com/{name}") or _origin(root)
    on_github = OF_GITHUB.fullmatch(said.strip())
    return f"https://github.com/{on_github.group(1)}" if on_github else None


def _origin(root: Path) -> str:
    if not (root / ".git").exists():
        return ""
    try:
        done = subprocess.run(
            ["git", "config", "--get", "remote.origin.url"], cwd=root, capture_output=True, text=True, check=False
        )
    except OSError:  # no git here
        return ""
    return done.stdout
