"""15.7 · Who has to wait."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import LAYOUTS, RINGS, from_both_ends, in_a_row, shuffled, whole_numbers


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    positions = [
        torch.tensor([[0, 1], [4, 5], [2, 3]]),
        shuffled(12, 3, rng),
        in_a_row(12, 4),
        from_both_ends(24, 3),
        shuffled(20, 5, rng),
        shuffled(28, 4, rng),
        torch.arange(21).view(7, 3).T.contiguous(),
        from_both_ends(16, 4).flip(1),
        in_a_row(48, 3).flip(0),
    ]
    alone = torch.randperm(5, generator=rng)[None]
    return [*(Case(positions=p) for p in positions), Case("there is a single rank", positions=alone)]


def _as_number(case, returned):
    """The table as int64, and the time as a plain number, whether a tensor of one or a number came back."""
    if not isinstance(returned, (list, tuple)) or len(returned) != 2:
        return returned
    table, time = returned
    whole = isinstance(time, torch.Tensor) and time.numel() == 1 and not time.is_floating_point()
    return (whole_numbers(table), int(time) if whole else time)


EXERCISE = Exercise(
    cases,
    returns=("table", "time"),
    compared=_as_number,
    off_limits=LAYOUTS + RINGS,
    advice="fill the table of the example by hand: take one rank and one step, and count the pairs that may be seen.",
)
