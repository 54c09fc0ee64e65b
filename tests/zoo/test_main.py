"""One command for the models that come with the course."""

import subprocess
import sys

import pytest

from course_utils.zoo.__main__ import COMMANDS, main


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_tells_how_it_is_used(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0 and f"course_utils.zoo {command}" in capsys.readouterr().out


def test_an_unknown_command_is_named_and_the_known_ones_listed(capsys):
    assert main(["prononce", "cat"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "'prononce'" in said.err and all(command in said.err for command in COMMANDS)


def test_from_a_terminal(root):
    done = subprocess.run(
        [sys.executable, "-m", "course_utils.zoo"], capture_output=True, text=True, cwd=root, check=False
    )
    assert done.returncode == 0 and done.stdout.startswith("usage: python -m course_utils.zoo")
