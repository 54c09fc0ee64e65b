"""The bytes of a handed-in file."""

import os

import pytest

from course_grader.submissions.notebook import Unreadable
from course_grader.submissions.submission import Submission, read


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="Windows opens links")
def test_a_file_that_becomes_a_link_after_it_was_found(tmp_path):
    os.symlink("/etc/hostname", tmp_path / "a.ipynb")
    with pytest.raises(Unreadable, match="OSError"):
        read(Submission("a", "a.ipynb", tmp_path / "a.ipynb"), 1)
