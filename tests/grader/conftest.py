"""What the tests of the grader share."""

import signal

import pytest


@pytest.fixture
def ctrl_c():
    """Ctrl-C raises, also where a shell that runs the tests with & has switched it off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
