"""One fork server for all tests that run kernels: it loads PyTorch once."""

import pytest

from course_grader.running.launch import ForkServer


@pytest.fixture(scope="session")
def fork_server():
    server = ForkServer()
    yield server
    server.close()
