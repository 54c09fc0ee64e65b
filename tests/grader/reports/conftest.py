"""A class for the tests of the reports."""

import pytest
from reported import AClass

from course_grader.reports.results_folder import ResultsFolder


@pytest.fixture
def a_class(tmp_path):
    results = ResultsFolder(tmp_path / "out")
    yield AClass(results)
    results.close()
