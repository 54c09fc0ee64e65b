"""The README's table of lessons: made from the sources, everything else untouched."""

import pytest

from course_authoring.build import read_sources
from course_authoring.errors import AuthoringError
from course_authoring.readme import readme_text

ADDRESS = "https://github.com/someone/course"


def test_the_table(project):
    text = readme_text(project, read_sources(project)[0], ADDRESS)
    (row,) = [line for line in text.splitlines() if line.startswith("| 05 ")]
    assert row.split(" | ")[1:4] == [
        "[Masking](notebooks/05_masking.ipynb)", "By the end you can mask.", "[2, 4 points](exercises/05_masking.ipynb)",
    ]  # fmt: skip
    assert "github/someone/course/blob/main/exercises/05_masking.ipynb" in row
    assert text.startswith("# Course\n") and text.endswith("The end.\n")


def test_making_it_again_changes_nothing(project):
    sources, _ = read_sources(project)
    once = readme_text(project, sources, ADDRESS)
    (project / "README.md").write_text(once)
    assert readme_text(project, sources, ADDRESS) == once


def test_missing_markers_are_named(project):
    (project / "README.md").write_text("# Course\n")
    with pytest.raises(AuthoringError, match=r"README\.md: needs one line"):
        readme_text(project, [], ADDRESS)
