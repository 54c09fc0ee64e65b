"""``python -m course_utils.zoo train|evaluate|ablate|pronounce``: one command for the models that come with the course."""

import sys

COMMANDS = {
    "train": "train the models of a group anew, and write their weights and card",
    "evaluate": "compute the figures of a card again from the weights, and compare",
    "ablate": "train small models with one thing removed each",
    "pronounce": "pronounce words, and draw which letters each sound looked at",
}


def main(arguments: list[str]) -> int:
    """Hand the arguments to the command that the first one names; returns the exit status."""
    name, *rest = arguments or ["--help"]
    if name == "train":
        from .train import main as command
    elif name == "evaluate":
        from .evaluate import main as command
    elif name == "ablate":
        from .ablation import main as command
    elif name == "pronounce":
        from .pronounce import main as command
    else:
        return _usage(name)
    return command(rest)


def _usage(name: str) -> int:
    asked = name in ("-h", "--help")
    lines = [] if asked else [f"{name!r} is not a command; expected one of these:", ""]
    lines += [f"  {command:10} {purpose}" for command, purpose in COMMANDS.items()]
    usage = ["usage: python -m course_utils.zoo COMMAND ...", "", *lines, "", "COMMAND --help tells more."]
    print("\n".join(usage), file=sys.stdout if asked else sys.stderr)
    return 0 if asked else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
