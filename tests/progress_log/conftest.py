"""A person at a notebook, and a file of their own."""

import pytest

from course_utils.progress_log import store


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Where progress is kept, as if a person ran every cell."""
    path = tmp_path / "kept" / "progress.json"
    monkeypatch.setenv(store.VARIABLE, str(path))
    monkeypatch.setattr(store, "_a_person_runs_this", lambda: True)
    monkeypatch.setattr(store, "_UNWRITTEN", store._none())
    return path
