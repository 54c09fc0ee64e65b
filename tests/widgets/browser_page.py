"""Shows widgets in a real browser, on a page of 127.0.0.1: each module as it is, and a model that knows only ``get``."""

import base64
import contextlib
import http.server
import json
import threading
from collections.abc import Iterator

import anywidget
from needs import browser

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><style>body {{ margin: 8px; background: {background}; }}</style><body><script type="module">
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
window.ends = [];
for (const {{ module, state, sent }} of {shown}) {{
  const {{ default: widget }} = await import("/" + module);
  for (const [name, text] of Object.entries(sent)) state[name] = bytes(text);
  const el = document.body.appendChild(document.createElement("div"));
  ends.push(await widget.render({{ model: {{ get: (name) => state[name] }}, el }}));
}}
window.ready = true;
</script>"""


class Showing:
    """A browser, and a server for its pages.

    Attributes:
        problems: What went wrong on the pages: words on the console, errors, requests that left this machine.
    """

    def __init__(self, chromium: object, url: str, pages: dict[str, str]) -> None:
        self._chromium, self._url, self._pages, self.problems = chromium, url, pages, []

    def page(
        self, *shown: anywidget.AnyWidget, width: int = 900, background: str = "#fff", **context: object
    ) -> object:
        """A page on which these widgets are seen one below the other."""
        self._pages |= {f"/{_module(widget)}": widget._esm for widget in shown}  # as a notebook gets it
        states = [_state(widget) for widget in shown]
        text = json.dumps(states, allow_nan=False).replace("<", "\\u003c")
        self._pages["/"] = PAGE.format(shown=text, background=background)
        page = self._chromium.new_page(viewport={"width": width, "height": 900}, **context)
        page.on("console", lambda message: self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", self._note_request)
        page.set_default_timeout(8_000)
        page.goto(self._url)
        page.wait_for_function("window.ready")
        return page

    def _note_request(self, request: object) -> None:
        if not request.url.startswith((self._url, "data:")):
            self.problems.append(request.url)


def _module(widget: anywidget.AnyWidget) -> str:
    return type(widget).__module__.rpartition(".")[2] + ".js"


def _state(widget: anywidget.AnyWidget) -> dict:
    usual = {"_esm", "_anywidget_id", *anywidget.AnyWidget.class_trait_names(sync=True)}
    own = {name: getattr(widget, name) for name in set(widget.trait_names(sync=True)) - usual}
    sent = {name: base64.b64encode(value).decode() for name, value in own.items() if isinstance(value, bytes)}
    return {"module": _module(widget), "state": {name: own[name] for name in own.keys() - sent.keys()}, "sent": sent}


@contextlib.contextmanager
def showing() -> Iterator[Showing]:
    """For as long as the block lasts."""
    from playwright.sync_api import sync_playwright

    pages: dict[str, str] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind = "javascript" if self.path.endswith(".js") else "html"
            self.send_response(200 if self.path in pages else 404)
            self.send_header("Content-Type", f"text/{kind}; charset=utf-8")
            self.end_headers()
            self.wfile.write(pages.get(self.path, "").encode())

        def log_message(self, *words: object) -> None:
            """Nothing is said."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox"])  # root has none
            yield Showing(chromium, f"http://127.0.0.1:{server.server_port}/", pages)
            chromium.close()
    finally:
        server.shutdown()
        server.server_close()
