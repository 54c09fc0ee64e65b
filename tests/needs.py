"""What some tests need that a newcomer's machine may lack: such tests are left out, and the last lines of the run say so.

A test says ``@pytest.mark.needs("sandbox")``. Where that is missing, the test is skipped, and pytest ends with a line such as

    left out: 37 tests of the grader's sandbox; to add them: sudo apt-get install bubblewrap

With ``CI=true`` the test fails instead, so that nothing is left out unseen. Where a thing cannot be had at all (the sandbox is
Linux's), its tests are plain skips. For another thing that may be missing, add one entry to ``NEEDS``.
"""

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

LEFT_OUT = "left out"


@dataclass(frozen=True)
class Need:
    """A thing that tests need.

    Attributes:
        what: Completes "37 tests of ...".
        to_add: Looks whether it is here and works: the one command that adds it, or "" where nothing is missing.
        only_on: The platforms where it can be had, as in ``sys.platform``; empty for all.
    """

    what: str
    to_add: Callable[[], str]
    only_on: tuple[str, ...] = ()


def sandbox_to_add() -> str:
    """bubblewrap must be here, be new enough, and be allowed to make namespaces."""
    if shutil.which("bwrap") is None:
        return install("bubblewrap")
    own_user = [] if os.geteuid() == 0 else ["--unshare-user", "--disable-userns"]
    options = [*own_user, "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc"]
    options += ["--perms", "0755", "--size", "4096", "--tmpfs", "/tmp"]
    tried = subprocess.run(["bwrap", *options, "true"], capture_output=True, text=True, check=False)
    if tried.returncode == 0:
        return ""
    if "Unknown option" in tried.stderr:
        return f"{install('bubblewrap')}  # 0.8 or newer, as in Debian 12 and Ubuntu 24.04; this one is older"
    for setting, refuses, allows in FORBIDDING:
        path = SETTINGS.joinpath(*setting.split("."))
        if path.is_file() and path.read_text().strip() == refuses:
            return f"{sudo()}sysctl -w {setting}={allows}  # bubblewrap is here, but may not make namespaces"
    return f"start this container with --privileged  # {tried.stderr.strip() or 'bubblewrap ends without a word'}"


SETTINGS = Path("/proc/sys")
# Settings of the kernel, the value with which bubblewrap may not make namespaces, and one with which it may.
FORBIDDING = (
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),  # Ubuntu, from 24.04 on
    ("kernel.unprivileged_userns_clone", "0", "1"),  # Debian 10 and older
    ("user.max_user_namespaces", "0", "15000"),  # Red Hat 7
)
INSTALLERS = {"apt-get": "install", "dnf": "install", "zypper": "install", "pacman": "-S", "apk": "add"}


def install(package: str) -> str:
    """The command of this machine's package manager."""
    manager = next((name for name in INSTALLERS if shutil.which(name)), "apt-get")
    return f"{sudo()}{manager} {INSTALLERS[manager]} {package}"


def sudo() -> str:
    """Root needs none, and may not have it."""
    return "" if not hasattr(os, "geteuid") or os.geteuid() == 0 else "sudo "  # Windows has neither


def node_to_add() -> str:
    """Node runs the functions of the widgets' JavaScript modules, and the live page's models."""
    if shutil.which("node"):
        return ""
    return {"darwin": "brew install node", "win32": "winget install OpenJS.NodeJS"}.get(sys.platform, install("nodejs"))


BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def browser() -> str | None:
    """Where a browser is that playwright can steer."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def browser_to_add() -> str:
    """Both are needed: a browser, and playwright to steer it."""
    parts = [] if browser() else [install("chromium")]
    if importlib.util.find_spec("playwright") is None:
        parts.append(f"{sys.executable} -m pip install -c constraints.txt -e '.[browser]'")
    return " && ".join(parts)


def site_to_add() -> str:
    """Sphinx and what goes with it build the web site."""
    wanted = ("sphinx", "myst_nb", "sphinx_book_theme", "sphinx-mathjax-offline")
    if all(importlib.util.find_spec(name) for name in wanted):
        return ""
    return f"{sys.executable} -m pip install -c constraints.txt -e '.[site]'"


NEEDS = {
    "sandbox": Need("the grader's sandbox", sandbox_to_add, only_on=("linux",)),
    "node": Need("the arithmetic in JavaScript", node_to_add),
    "browser": Need("the widgets in a browser", browser_to_add, only_on=("linux",)),
    "site": Need("the web site", site_to_add),
}


@functools.cache
def to_add(name: str) -> str:
    """``NEEDS[name].to_add()``, asked once."""
    return NEEDS[name].to_add()


# What follows are pytest's hooks; conftest.py takes them in.


def pytest_configure(config):
    config.addinivalue_line(
        "markers", f"needs(name): left out where that is missing: {', '.join(NEEDS)} (tests/needs.py)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    for mark in item.iter_markers("needs"):
        need = NEEDS[mark.args[0]]
        if need.only_on and sys.platform not in need.only_on:
            pytest.skip(f"{need.what}: only on {', '.join(need.only_on)}")
        if command := to_add(mark.args[0]):
            if os.environ.get("CI") == "true":
                pytest.fail(f"CI leaves nothing out; for {need.what}: {command}", pytrace=False)
            item.user_properties.append((LEFT_OUT, [need.what, command]))  # travels from a worker of pytest-xdist
            pytest.skip(f"{LEFT_OUT}; to add it: {command}")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    """After pytest's own last line; ``make test`` also wants it in a file, since lessons and solutions run after the tests."""
    result = yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(session.config, "workerinput"):  # a worker: its starter hears of all
        return result
    skipped = reporter.stats.get("skipped", [])
    found = Counter(tuple(v) for one in skipped for name, v in getattr(one, "user_properties", ()) if name == LEFT_OUT)
    lines = [
        f"{LEFT_OUT}: {count} test{'s' * (count > 1)} of {what}; to add {'them' if count > 1 else 'it'}: {command}"
        for (what, command), count in found.items()
    ]
    for line in lines:
        reporter.write_line(line, yellow=True)
    if lines and (file := os.environ.get("LEFT_OUT")):
        path = session.config.rootpath / file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as out:
            out.writelines(f"{line}\n" for line in lines)
    return result
