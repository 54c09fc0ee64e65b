"""8.1 · Tell the time."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import POSITIONS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = [Case(vectors=torch.tensor([[0.66, 0.75, 0.10, 1.00]]), num_positions=100)]
    # many with d_model = 4, in which positions 6, 19 and 25 apart lie near each other
    sizes = (5, 4, 9), (4, 4, 300), (7, 6, 80), (5, 8, 1000), (9, 16, 3000), (6, 10, 700), (20, 4, 500), (5, 8, 1000)
    for n, d_model, num_positions in sizes:
        where = torch.randperm(num_positions, generator=rng)[:n]
        where[: n // 2] = num_positions - 1 - torch.arange(n // 2)  # late ones in every case
        off = 0.1 * torch.rand(n, d_model, generator=rng) - 0.05
        made.append(Case(vectors=_table(where, d_model) + off, num_positions=num_positions))
    return made


def _table(where, d_model):
    """What section 8.2 says of these positions: ``(n, d_model)``."""
    angle = where[:, None] * 10000.0 ** (-torch.arange(0, d_model, 2).double() / d_model)  # (n, d_model / 2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).float()


EXERCISE = Exercise(
    cases,
    returns=("positions",),
    off_limits=POSITIONS,
    pairs=300,
    advice="take the first row of your table for position 7 and the vector of the example, and compare them entry by entry.",
)
