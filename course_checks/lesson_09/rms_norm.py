"""9.2 · RMSNorm."""

import functools

from ..deciding.exercise import Exercise, mistake
from .common import NORMS, norm_cases

NO_MEAN = "RMSNorm takes no mean off, above the line or below it."
X = "x = x - x.mean(dim=-1, keepdim=True)\n    "

EXERCISE = Exercise(
    functools.partial(norm_cases, with_bias=False),
    returns=("output",),
    off_limits=NORMS,
    gradients=True,
    rtol=5e-4,
    pairs=300,
    advice="with weight 1 and a tiny eps each vector must come out with mean square 1, and its mean need not be 0.",
    mistakes=[
        mistake(
            "the mean was taken off: that is LayerNorm without a bias.",
            NO_MEAN,
            {"mean_square = ": f"{X}mean_square = "},
        ),
    ],
)
