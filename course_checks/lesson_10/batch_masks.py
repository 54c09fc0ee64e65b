"""10.1 · Masks for a batch of pairs."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import MASKS, padded


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    small = Case(source=torch.tensor([[3, 4, 5], [6, 0, 0]]), target=torch.tensor([[1, 7], [1, 0]]), pad_id=0)
    right = Case(source=padded(rng, (7, 4, 6), 7, 12, 0, 3), target=padded(rng, (3, 5, 4), 5, 12, 0, 3), pad_id=0)
    left = {"source": padded(rng, (3, 2), 4, 9, 5).flip(1), "target": padded(rng, (5, 2), 6, 9, 5).flip(1), "pad_id": 5}
    left["source"][:, -1] = left["target"][:, -1] = 0  # real, as padding is another id
    made = [small, right, Case("padding stands on the left", **left)]
    for pad_id, lengths in ((2, (4, 3)), (7, (3, 5))):  # the same sizes twice
        inside = {"source": padded(rng, lengths, 5, 9, pad_id), "target": padded(rng, lengths[::-1], 5, 9, pad_id)}
        for ids in inside.values():
            ids[:, 1], ids[0, 0] = pad_id, 0
        made.append(Case("padding stands between real symbols", **inside, pad_id=pad_id))
    return made


EXERCISE = Exercise(
    cases,
    returns=("source_mask", "target_mask"),
    off_limits=MASKS,
    advice="write both masks down for a source of 3 and a target of 2 symbols; rows are queries, columns keys.",
)
