"""``python -m course_utils.pretrained COMMAND``: ask the models that come with the course, or judge them."""

import argparse
import sys

COMMANDS = {
    "pronounce": "pronounce words, and draw which letters each sound looked at",
    "evaluate": "compute the figures of a card again from the weights, and compare",
}


def main(arguments: list[str]) -> int:
    """Hand the arguments to the command that the first one names; returns the exit status."""
    lines = "\n".join(f"  {command:10} {purpose}" for command, purpose in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="python -m course_utils.pretrained",
        description=lines,
        epilog="COMMAND --help tells more",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", metavar="COMMAND", choices=COMMANDS)
    if parser.parse_args(arguments[:1] or ["--help"]).command == "pronounce":
        from .pronounce import main as command
    else:
        from .evaluate import main as command
    return command(arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
