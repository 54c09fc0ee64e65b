"""A real browser: on the built site (``build/site``), served from 127.0.0.1, and on JupyterLab (``lab.py``)."""

import functools
import http.server
import threading

import pytest
from needs import browser
from visiting import SITE, Visitor


@pytest.fixture(scope="session")
def site():
    """The folder of the built site."""
    if not (SITE / "index.html").is_file():
        pytest.fail("there is no site to look at: `make site` first", pytrace=False)
    return SITE


@pytest.fixture(scope="session")
def chromium():
    """A running browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox"])  # root has none
        yield running
        running.close()


@pytest.fixture(scope="session")
def chromium_and_url(chromium, site):
    """That browser, and where the site is."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            """Nothing is said."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield chromium, f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def visitor(chromium_and_url):
    """At the end of the test, nothing may have gone wrong that the test did not take out of ``problems``."""
    visitor = Visitor(*chromium_and_url)
    yield visitor
    assert visitor.problems == []
    for context in visitor._chromium.contexts:
        context.close()
