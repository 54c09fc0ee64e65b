"""15.4 · Gather in a ring: all ranks run by turns, in one process."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import RINGS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(*shape, label=(), dtype=torch.float32):
        x = torch.randn(*shape, generator=rng, dtype=torch.float64)
        return Case(*label, x_of_all_ranks=(x * (10 if dtype.is_floating_point else 2**40)).to(dtype))

    return [
        Case(x_of_all_ranks=torch.tensor([5, 6, 7])),
        case(2, 3),
        case(5, 2, 3),
        case(4, 3, 1, 2),
        case(7, 4, dtype=torch.float64),
        case(3, 2, 2, dtype=torch.int64),
        case(1, 3, label=("there is a single rank",)),
    ]


EXERCISE = Exercise(
    cases,
    returns=("what all ranks return, stacked", "number of tensors handed on"),
    driver="every_rank",
    off_limits=RINGS,
    advice="play three ranks by hand, and write down after each step what every rank has.",
)
