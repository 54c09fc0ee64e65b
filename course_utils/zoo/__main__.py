"""``python -m course_utils.zoo COMMAND``: one command for the models that come with the course, and for what was tried."""

import sys

COMMANDS = {
    "train": "train the models of a group anew, and write their weights and card",
    "evaluate": "compute the figures of a card again from the weights, and compare",
    "ablate": "train small models with one thing removed each",
    "bottleneck": "train recurrent models of several sizes with and without attention",
    "lookups": "train small layers whose heads share keys and values",
    "places": "train small layers with five encodings of positions",
    "norms": "train deep encoders with the norm before and after the sum",
    "warmups": "train a small Transformer with norms before or after, with and without a warm-up",
    "compare": "train a GRU, a Transformer and a decoder-only model under one recipe",
    "pronounce": "pronounce words, and draw which letters each sound looked at",
}


def main(arguments: list[str]) -> int:
    """Hand the arguments to the command that the first one names; returns the exit status."""
    name, *rest = arguments or ["--help"]
    match name:
        case "train":
            from .train import main as command
        case "evaluate":
            from .evaluate import main as command
        case "ablate":
            from .ablation import main as command
        case "bottleneck":
            from .bottleneck import main as command
        case "lookups":
            from .lookups import main as command
        case "places":
            from .places import main as command
        case "norms":
            from .norm_order import main as command
        case "warmups":
            from .warmups import main as command
        case "compare":
            from .comparison import main as command
        case "pronounce":
            from .pronounce import main as command
        case _:
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
