"""Tests that need what is missing are skipped, and named in the last lines; with CI=true they fail."""

import os
import subprocess
import sys
from pathlib import Path

import needs
import pytest

CONFTEST = f"""
import sys
sys.path.insert(0, {str(Path(needs.__file__).parent)!r})
import needs
from needs import pytest_configure, pytest_runtest_setup, pytest_sessionfinish
needs.REQUIREMENTS |= {{
    "engine": needs.Requirement("the steam engine", lambda: "sudo fetch engine"),
    "wheel": needs.Requirement("the wheel", lambda: ""),
    "wings": needs.Requirement("the wings", lambda: "sudo fetch wings", only_on=("nowhere",)),
}}
"""
TESTS = """
import pytest

@pytest.mark.needs("engine")
@pytest.mark.parametrize("n", range(3))
def test_drives(n):
    raise AssertionError("run without an engine")

@pytest.mark.needs("wheel")
def test_rolls():
    pass

@pytest.mark.needs("wings")
def test_flies():
    raise AssertionError("run without wings")
"""
LINE = "skipped: 3 tests of the steam engine; to run them: sudo fetch engine"


@pytest.fixture
def run(tmp_path):
    """A run of pytest on a small project: its exit status and its last lines."""
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers -p no:cacheprovider\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")

    def work(*options, **environment):
        kept = {k: v for k, v in os.environ.items() if k != "CI" and not k.startswith("PYTEST_")}
        kept["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # those of the course take a second or two to load
        command = [sys.executable, "-m", "pytest", "-q", "-p", "xdist.plugin", *options]
        done = subprocess.run(
            command, cwd=tmp_path, env=kept | environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout.strip().splitlines()

    return work


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "workers"])
def test_the_last_line_says_what_was_skipped(run, options):
    status, lines = run(*options)
    assert status == 0 and "1 passed, 4 skipped" in lines[-2]
    assert lines[-1] == LINE


def test_with_ci_it_fails(run):
    status, lines = run("-n", "2", CI="true")
    assert status == 1 and "1 passed, 1 skipped, 3 errors" in lines[-1]
    assert any("CI skips nothing; for the steam engine: sudo fetch engine" in line for line in lines)


def test_nothing_missing_nothing_said(run):
    status, lines = run("-k", "rolls")
    assert status == 0 and "1 passed" in lines[-1]


def put(folder, name, script="exit 0"):
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other package managers")
def test_what_installs_node_and_a_browser(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert needs.install_node() == "sudo apt-get install nodejs"
    playwright = f"{sys.executable} -m pip install -c constraints.txt -e '.[browser]'"
    assert needs.install_browser() == f"sudo apt-get install chromium && {playwright}"
    put(tmp_path, "node")
    put(tmp_path, "google-chrome")
    assert needs.install_node() == "" and needs.install_browser() == playwright
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    assert needs.install_browser() == ""


NO_NAMESPACE = "bwrap: Creating new namespace failed: Operation not permitted"
UBUNTU_24_04 = "kernel.apparmor_restrict_unprivileged_userns"


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")
@pytest.mark.parametrize(
    ("user", "programs", "setting", "command"),
    [
        (1000, {"apt-get": ""}, None, "sudo apt-get install bubblewrap"),
        (0, {"pacman": ""}, None, "pacman -S bubblewrap"),
        (0, {"bwrap": "exit 0"}, None, ""),
        (
            0,
            {"bwrap": f"echo '{NO_NAMESPACE}' >&2; exit 1"},
            None,
            f"start this container with --privileged  # {NO_NAMESPACE}",
        ),
        (
            1000,
            {"bwrap": "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1"},
            UBUNTU_24_04,
            f"sudo sysctl -w {UBUNTU_24_04}=0  # bubblewrap is here, but may not make namespaces",
        ),
        (
            0,
            {"bwrap": "echo 'bwrap: Unknown option --disable-userns' >&2; exit 1"},
            None,
            "apt-get install bubblewrap  # 0.8 or newer, as in Debian 12 and Ubuntu 24.04; this one is older",
        ),
    ],
)
def test_what_installs_the_sandbox(tmp_path, monkeypatch, user, programs, setting, command):
    for name, script in programs.items():
        put(tmp_path, name, script)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(needs, "SETTINGS", tmp_path)
    if setting:
        path = tmp_path.joinpath(*setting.split("."))
        path.parent.mkdir()
        path.write_text("1\n")
    assert needs.install_sandbox() == command
