"""Runs JavaScript in Node, without a page."""

import subprocess


def run_node(source: str) -> str:
    """What a module prints; fails with what it complained of."""
    done = subprocess.run(
        ["node", "--input-type=module", "-"], input=source, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
