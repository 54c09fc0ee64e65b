"""What some tests need that not every machine has: without it they are skipped, and the last lines of the run say so.

A test says ``@pytest.mark.needs("sandbox")``. Where that is missing, pytest ends with a line such as

    skipped: 37 tests of the grader's sandbox; to run them: sudo apt-get install bubblewrap

With ``CI=true`` the test fails instead. Where a thing cannot be had at all (the sandbox is Linux's), its tests are plain skips.
For another thing that may be missing, add one entry to ``REQUIREMENTS``.
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

MISSING = "missing"  # property of a test's report


@dataclass(frozen=True)
class Requirement:
    """A thing that tests need.

    Attributes:
        what: Completes "37 tests of ...".
        install: Looks whether it is here and works: the one command that installs it, or "" where nothing is missing.
        only_on: The platforms where it can be had, as in ``sys.platform``; empty for all.
    """

    what: str
    install: Callable[[], str]
    only_on: tuple[str, ...] = ()


def install_sandbox() -> str:
    """bubblewrap must be here, be new enough, and be allowed to make namespaces."""
    if shutil.which("bwrap") is None:
        return package_install("bubblewrap")
    own_user = [] if os.geteuid() == 0 else ["--unshare-user", "--disable-userns"]
    options = [*own_user, "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc"]
    options += ["--perms", "0755", "--size", "4096", "--tmpfs", "/tmp"]
    tried = subprocess.run(["bwrap", *options, "true"], capture_output=True, text=True, check=False)
    if tried.returncode == 0:
        return ""
    if "Unknown option" in tried.stderr:
        return f"{package_install('bubblewrap')}  # 0.8 or newer, as in Debian 12 and Ubuntu 24.04; this one is older"
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


def package_install(package: str) -> str:
    """The command of this machine's package manager."""
    manager = next((name for name in INSTALLERS if shutil.which(name)), "apt-get")
    return f"{sudo()}{manager} {INSTALLERS[manager]} {package}"


def sudo() -> str:
    """Root needs none, and may not have it."""
    return "" if not hasattr(os, "geteuid") or os.geteuid() == 0 else "sudo "  # Windows has neither


def install_node() -> str:
    """Node runs the functions of the widgets' JavaScript modules, and the live page's models."""
    if shutil.which("node"):
        return ""
    return {"darwin": "brew install node", "win32": "winget install OpenJS.NodeJS"}.get(
        sys.platform, package_install("nodejs")
    )


BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def browser() -> str | None:
    """Where a browser is that playwright can steer."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def install_browser() -> str:
    """Both are needed: a browser, and playwright to steer it."""
    parts = [] if browser() else [package_install("chromium")]
    if importlib.util.find_spec("playwright") is None:
        parts.append(f"{sys.executable} -m pip install -c constraints.txt -e '.[browser]'")
    return " && ".join(parts)


def install_site() -> str:
    """Sphinx and what goes with it build the web site."""
    wanted = ("sphinx", "myst_nb", "sphinx_book_theme", "sphinx-mathjax-offline")
    if all(importlib.util.find_spec(name) for name in wanted):
        return ""
    return f"{sys.executable} -m pip install -c constraints.txt -e '.[site]'"


def install_cluster() -> str:
    """The grader's way to other machines."""
    if importlib.util.find_spec("distributed"):
        return ""
    return f"{sys.executable} -m pip install -c constraints.txt -e '.[cluster]'"


REQUIREMENTS = {
    "sandbox": Requirement("the grader's sandbox", install_sandbox, only_on=("linux",)),
    "cluster": Requirement("grading on a Dask cluster", install_cluster),
    "node": Requirement("the arithmetic in JavaScript", install_node),
    "browser": Requirement("the widgets in a browser", install_browser, only_on=("linux",)),
    "site": Requirement("the web site", install_site),
}


@functools.cache
def install_command(name: str) -> str:
    """What installs that requirement, "" if it is here; looked up once."""
    return REQUIREMENTS[name].install()


# What follows are pytest's hooks; conftest.py takes them in.


def pytest_configure(config):
    names = ", ".join(REQUIREMENTS)
    config.addinivalue_line("markers", f"needs(name): skipped where that is missing: {names} (tests/needs.py)")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    for mark in item.iter_markers("needs"):
        requirement = REQUIREMENTS[mark.args[0]]
        if requirement.only_on and sys.platform not in requirement.only_on:
            pytest.skip(f"{requirement.what}: only on {', '.join(requirement.only_on)}")
        if command := install_command(mark.args[0]):
            if os.environ.get("CI") == "true":
                pytest.fail(f"CI skips nothing; for {requirement.what}: {command}", pytrace=False)
            item.user_properties.append((MISSING, [requirement.what, command]))  # travels from a worker of pytest-xdist
            pytest.skip(f"to run it: {command}")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    """After pytest's own last line."""
    result = yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(session.config, "workerinput"):  # a worker reports to the process that started it
        return result
    properties = (
        pair for report in reporter.stats.get("skipped", []) for pair in getattr(report, "user_properties", ())
    )
    for (what, command), count in Counter(tuple(value) for name, value in properties if name == MISSING).items():
        tests, them = ("tests", "them") if count > 1 else ("test", "it")
        reporter.write_line(f"skipped: {count} {tests} of {what}; to run {them}: {command}", yellow=True)
    return result
