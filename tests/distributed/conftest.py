"""What the tests with real processes share."""

import tempfile

import pytest
from leftovers import left_behind


@pytest.fixture
def runs_in(tmp_path, monkeypatch):
    """The folder in which the runs of a test have theirs; afterwards nothing may be left, at once."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert left_behind(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
