"""``python -m course_utils.diagrams FILE``: the picture of the README, attention on the sentence of lesson 04."""

import sys
from pathlib import Path

import torch
from matplotlib.axes import Axes

from ..files import replacing
from ..plotting import png
from .attention import attention_flow


def readme_picture() -> Axes:
    """*apple* asks for a color, and takes it from *red*."""
    words = "the red apple fell".split()
    query = torch.tensor([[0.0, 0.0], [0.0, 2.0], [3.0, 0.0], [0.0, 2.0]])  # (L=4, d_k=2)
    key = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.0, 0.0]])  # (L=4, d_k=2)
    value = torch.tensor([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [0.0, 0.0]])  # (L=4, d_v=2)
    return attention_flow(query, key, value, queries=words, keys=words, follow=(2, 0))


if __name__ == "__main__":
    with replacing(Path(sys.argv[1])) as unfinished:
        unfinished.write_bytes(png(readme_picture().figure, fitted=True))
