"""Here the library runs as it does in a notebook: without its signatures being enforced, which takes most of the time."""

import jaxtyping
import pytest


@pytest.fixture(autouse=True, scope="module")
def as_in_a_notebook():
    """The library's own tests, in the other folders, are the place where signatures are enforced."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
