"""9.2 · RMSNorm."""

import functools

from ..deciding.exercise import Exercise
from .common import NORMS, norm_cases

EXERCISE = Exercise(
    functools.partial(norm_cases, with_bias=False),
    returns=("output",),
    off_limits=NORMS,
    gradients=True,
    rtol=5e-4,
    pairs=300,
    advice="with weight 1 and a tiny eps each vector must come out with mean square 1, and its mean need not be 0.",
)
