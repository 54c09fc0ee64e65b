"""A real JupyterLab on a copy of the notebooks, and a page of it that tells what goes wrong."""

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "build" / "pictures-of-lab"
IN_THE_PAGE = Path(__file__).with_name("in_lab.js")
START_S, OPEN_S, RUN_S = 180, 300, 600
CHANGE_MS = 5_000  # a control that changes nothing for so long changes nothing
SLOW = "[anywidget] Failed to initialize model."  # a view that stays empty is found by its height
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},  # every cell is on the page, to be looked at
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}


@contextlib.contextmanager
def serving(folder: Path) -> Iterator["Server"]:
    """JupyterLab on a free port, for as long as the block lasts; all that it writes is below ``folder``."""
    files = folder / "course"
    for name in ("notebooks", "exercises", "docs"):
        shutil.copytree(ROOT / name, files / name)
    for name, values in SETTINGS.items():
        path = folder / "settings" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port_retries=0",
    ]
    command += [f"--ServerApp.port={port}", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={files}"]
    command += ["--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command += ["--allow-root"]
    own = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")
    environment = {**os.environ, **{name: str(folder / name) for name in own}}
    environment["JUPYTERLAB_SETTINGS_DIR"] = str(folder / "settings")
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment["ATTENTION_COURSE_PROGRESS"] = str(folder / "progress.json")
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
    try:
        server = Server(f"http://127.0.0.1:{port}/", token, folder)
        server.wait(process)
        yield server
    finally:
        process.terminate()  # it ends its kernels
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Server:
    """A JupyterLab that runs.

    Attributes:
        url: Where.
        progress: The file in which a person's progress is kept.
        log: What the server and the kernels say on their terminal.
    """

    def __init__(self, url: str, token: str, folder: Path) -> None:
        self.url, self._token = url, token
        self.progress, self.log = folder / "progress.json", folder / "server.log"

    @property
    def address(self) -> str:
        """Where a browser goes first."""
        return f"{self.url}lab?token={self._token}"

    def wait(self, process: subprocess.Popen) -> None:
        """Until it answers."""
        until = time.monotonic() + START_S
        while time.monotonic() < until and process.poll() is None:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}api?token={self._token}", timeout=5).close()
                return
            time.sleep(0.3)
        raise RuntimeError(f"JupyterLab does not start: {self.log.read_text()[-2000:]}")


class Lab:
    """JupyterLab in a browser, one page for all notebooks.

    Attributes:
        problems: What went wrong in our own modules, and each request that left this machine.
        other_errors: What else JupyterLab said on the console as an error.
    """

    def __init__(self, context: object, server: Server) -> None:
        self.server, self.problems, self.other_errors = server, [], []
        self.page = page = context.new_page()
        page.set_default_timeout(OPEN_S * 1000)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._error(f"{error}\n{error.stack}"))
        page.route(lambda url: not self._own(url), self._elsewhere)
        page.add_init_script(path=IN_THE_PAGE)
        page.goto(server.address)
        page.wait_for_function("window.jupyterapp && lab.started()")

    def _own(self, url: str) -> bool:
        return url.startswith((self.server.url, self.server.url.replace("http", "ws", 1), "data:", "blob:"))

    def _elsewhere(self, route: object) -> None:
        self.problems.append(f"elsewhere: {route.request.url}")
        route.abort()

    def _console(self, message: object) -> None:
        if message.type == "error":
            self._error(f"{message.location.get('url', '')}: {message.text}")

    def _error(self, text: str) -> None:
        """A module of ours comes as a blob, by way of anywidget; anywidget also says when one takes over 2 s, and goes on."""
        ours = any(word in text.lower() for word in ("blob:", "widget", "course_utils")) and SLOW not in text
        (self.problems if ours else self.other_errors).append(text[:600])


class Notebook:
    """A notebook, open in JupyterLab."""

    def __init__(self, lab: Lab, path: str) -> None:
        self.path, self.page = path, lab.page
        self.page.evaluate("(path) => void lab.open(path)", path)
        self.page.wait_for_function("(path) => lab.ready(path)", arg=path)

    def close(self) -> None:
        """End its kernel and close it; nothing is saved."""
        self.page.evaluate("lab.close()")

    def run(self, *ids: str) -> None:
        """Run these cells, or all, and wait for the end."""
        self.page.evaluate("(ids) => void lab.run(ids)", list(ids) or None)
        self.page.wait_for_function("lab.done()", timeout=RUN_S * 1000, polling=100)

    def outputs(self) -> dict[str, list[dict]]:
        """Cell id -> its outputs, of code cells that ran."""
        return {cell["id"]: cell["outputs"] for cell in self.page.evaluate("lab.outputs()") if cell["ran"]}

    def never_ran(self) -> list[str]:
        """The ids of code cells without a number."""
        return [cell["id"] for cell in self.page.evaluate("lab.outputs()") if not cell["ran"]]

    def move(self, index: int) -> list[float | None]:
        """Move each control of one widget once: from each input to another picture in milliseconds, or None if it stays."""
        place, times = self.page.locator(f"[data-seen='{index}']"), []
        for kind, act in MOVES.items():
            for control in place.locator(kind).all():
                if control.is_visible() and control.is_enabled():
                    control.scroll_into_view_if_needed()
                    self.page.evaluate("([index, limit]) => lab.watch(index, limit)", [index, CHANGE_MS])
                    act(control)
                    times.append(self.page.evaluate("lab.changed()"))
        return times

    def picture(self, name: str, index: int | None = None) -> None:
        """Keep what is seen, with that widget in the middle."""
        if index is not None:
            self.page.locator(f"[data-seen='{index}']").evaluate("(node) => node.scrollIntoView({ block: 'center' })")
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{Path(self.path).stem}-{name}.png")

    def dress(self, *, dark: bool, width: int) -> None:
        """Another theme, another width; nothing is run again."""
        self.page.evaluate("(name) => lab.theme(name)", "JupyterLab Dark" if dark else "JupyterLab Light")
        self.page.set_viewport_size({"width": width, "height": 1000})
        self.page.wait_for_timeout(300)


def _another(select: object) -> None:
    values = select.evaluate("(node) => [node.selectedIndex, node.options.length]")
    select.select_option(index=(values[0] + 1) % values[1])


def _shorter(text: object) -> None:
    """A word or text without its last letter: what every such field of the course understands."""
    before = text.input_value()
    text.fill(before[:-1] if len(before) > 2 else f"{before}s")
    text.press("Enter")


def _step(slider: object) -> None:
    at_the_end = slider.get_attribute("aria-valuenow") == slider.get_attribute("aria-valuemax")
    slider.press("ArrowLeft" if at_the_end else "ArrowRight")


def _to_the_side(range_: object) -> None:
    at_the_end = range_.evaluate("(node) => node.value === node.max")
    range_.press("ArrowLeft" if at_the_end else "ArrowRight")


# What a person can take hold of, sorted so that what computes long (a button) comes last, and how it is moved.
MOVES = {
    ".noUi-handle": _step,
    "input[type=range]": _to_the_side,
    "input[type=checkbox]": lambda box: box.click(),
    "input[type=radio]:not(:checked)": lambda choice: choice.click(),
    "select": _another,
    "input[type=text]": _shorter,
    "canvas[tabindex]": lambda canvas: canvas.press("ArrowRight"),
    "button:not(.mod-active)": lambda button: button.click(),
}
