"""``python -m course_utils.zoo train|evaluate|ablate|pronounce``: one command for the models that come with the course."""

import sys
from importlib import import_module

COMMANDS = {  # what is typed: the module whose main() does it, and what for
    "train": ("train", "train the models of a group anew, and write their weights and card"),
    "evaluate": ("evaluate", "compute the figures of a card again from the weights, and compare"),
    "ablate": ("ablation", "train small models with one thing removed each"),
    "pronounce": ("pronounce", "pronounce words, and draw which letters each sound looked at"),
}


def main(arguments: list[str]) -> int:
    """Hand the arguments to the command that the first one names; returns the exit status."""
    name, *rest = arguments or ["--help"]
    if name not in COMMANDS:
        asked = name in ("-h", "--help")
        lines = ["usage: python -m course_utils.zoo COMMAND ...", ""]
        lines += [] if asked else [f"{name!r} is not a command; expected one of these:", ""]
        lines += [f"  {command:10} {purpose}" for command, (_, purpose) in COMMANDS.items()]
        print("\n".join([*lines, "", "COMMAND --help tells more."]), file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    return import_module(f".{COMMANDS[name][0]}", __package__).main(rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
