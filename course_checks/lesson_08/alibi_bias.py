"""8.6 · The biases of ALiBi."""

import torch

from ..deciding.exercise import Case, Exercise, mistake
from ..deciding.off_limits import POSITIONS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = [Case(slopes=torch.tensor([0.5]), L_q=2, L_k=3)]
    for H, L_q, L_k in ((2, 4, 4), (4, 5, 7), (3, 1, 6), (5, 3, 8), (4, 5, 7)):
        made.append(Case(slopes=0.05 + 0.6 * torch.rand(H, generator=rng), L_q=L_q, L_k=L_k))
    made[-1].labels = ("an earlier call had the same sizes",)
    return made


def causal(bias):
    L_q, L_k = bias.shape[-2:]
    return bias.masked_fill(torch.ones(L_q, L_k, dtype=torch.bool).triu(L_k - L_q + 1), -torch.inf)


ABSOLUTE = "the distance is counted in both directions."

EXERCISE = Exercise(
    cases,
    returns=("bias",),
    off_limits=POSITIONS,
    advice="write down the distances for L_q = 2, L_k = 3 by hand, and multiply them by the slope of each head.",
    mistakes=[mistake("minus infinity in the future: a causal mask as well.", ABSOLUTE, then=causal)],
)
