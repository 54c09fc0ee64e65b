"""``python -m experiments NAME``: train the shipped models anew, or make the runs that a table lacks."""

import argparse
import sys

from . import runs, train

TABLES = {
    "bottleneck": "recurrent models of several sizes and four kinds of context (lesson 03)",
    "narrow_heads": "one layer cut into few heads or many narrow ones (lesson 06)",
    "lookups": "small layers whose heads share keys and values (lesson 07)",
    "places": "small layers with five encodings of positions (lesson 08)",
    "by_position": "the same layers, tested at every position, after ten times the updates too (lesson 08)",
    "norm_order": "deep encoders with the norm before and after the sum, started large and small (lesson 09)",
    "warmups": "a small Transformer with norms before or after, with and without a warm-up (lesson 10)",
    "copiers": "small copiers of several lengths, each kind of attention missing in turn (lesson 10)",
    "comparison": "a GRU, a Transformer and a decoder-only model under one recipe (lessons 11 and 12)",
    "budgets": "the GRU and the Transformer of comparison, trained for longer (lesson 11)",
    "ablation": "small models with one thing removed each (lesson 11)",
    "unmasked": "the model without a padding mask, on words with padding and without (lesson 11)",
    "seeds": "the shipped models, shorter, from three seeds (lessons 11 and 12)",
    "gates": "a small language model with SwiGLU or a ReLU network (lesson 12)",
    "long_contexts": "memory and time of attention, bits and speed with a window (lesson 14)",
    "recall": "small layers that recall pairs, with a softmax or with a state of fixed size (lesson 14)",
    "induction": "small models that continue strings written twice, and what their heads do (lesson 13)",
    "traffic": "bytes that ranks really send, beside what is counted (lesson 15)",
}
NAMES = {"train": "the models of a group anew, with their weights and card", **TABLES}


def main(arguments: list[str]) -> int:
    """Hand the arguments to the script that the first one names; returns the exit status."""
    names = "\n".join(f"  {name:12} {purpose}" for name, purpose in NAMES.items())
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description=f"what is trained:\n{names}",
        epilog="NAME --help tells more",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", metavar="NAME", choices=NAMES)
    name = parser.parse_args(arguments[:1] or ["--help"]).name
    return train.main(arguments[1:]) if name == "train" else runs.main(name, arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
