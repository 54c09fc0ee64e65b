"""The README's list of lessons: made from the sources, everything else untouched."""

import pytest

from course_authoring.build import read_sources
from course_authoring.errors import AuthoringError
from course_authoring.readme import readme_text


def test_the_list(project):
    text = readme_text(project, read_sources(project)[0])
    entry = "- 05 [Masking](notebooks/05_masking.ipynb). Mask. [2 exercises](exercises/05_masking.ipynb)."
    assert entry in text.replace("\n  ", " ")
    assert text.startswith("# Course\n") and text.endswith("The end.\n")


def test_making_it_again_changes_nothing(project):
    sources, _ = read_sources(project)
    once = readme_text(project, sources)
    (project / "README.md").write_text(once)
    assert readme_text(project, sources) == once


def test_missing_markers_are_named(project):
    (project / "README.md").write_text("# Course\n")
    with pytest.raises(AuthoringError, match=r"README\.md: needs one line"):
        readme_text(project, [])
