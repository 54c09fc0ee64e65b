"""Generating text with a key/value cache, against computing all earlier positions again for every new character.

Greedy, so that both give the same text; one thread or more, as PyTorch chooses. The prompt is one character: what is timed
is the generation of the characters after it.
"""

import torch

from course_utils import pretrained
from course_utils.datasets.text_windows import encode_text
from course_utils.decoding import generate

from .measure import in_turn, ratio, threads

LENGTHS = (128, 512, 1024)


def main(repeats: int = 3) -> None:
    """Print the table."""
    print(threads())
    print("characters   with cache (s)   without (s)   without / with   same text")
    model = pretrained.load("language_model")
    prompt = encode_text("T")[None]
    for length in LENGTHS:
        options = {"max_new_tokens": length - 1, "temperature": 0.0}
        same = torch.equal(*(generate(model, prompt, use_cache=use_cache, **options) for use_cache in (True, False)))
        actions = {
            name: lambda use_cache=use_cache, options=options: generate(model, prompt, use_cache=use_cache, **options)
            for name, use_cache in (("with", True), ("without", False))
        }
        times = in_turn(actions, repeats)
        cached, whole = (sorted(times[name])[repeats // 2] for name in actions)
        print(
            f"{length:10}{cached:17.2f}{whole:14.2f}{ratio(times, 'without', 'with'):17.1f}   {'yes' if same else 'NO'}"
        )


if __name__ == "__main__":
    main()
