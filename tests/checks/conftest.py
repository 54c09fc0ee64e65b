"""Here the library runs as it does in a notebook: without its signatures being enforced, which takes most of the time."""

import gc

import jaxtyping
import pytest


@pytest.fixture(autouse=True, scope="module")
def as_in_a_notebook():
    """The library's own tests, in the other folders, are the place where signatures are enforced."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(autouse=True)
def what_earlier_tests_left_is_not_looked_through():
    """Some cases collect garbage before they count what an answer keeps; over a large heap each time takes a second."""
    gc.freeze()
    yield
    gc.unfreeze()
