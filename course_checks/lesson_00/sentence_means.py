"""0.7 · Find the bug."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    x = torch.tensor([[[1.0, 3.0], [2.0, 2.0], [6.0, 1.0]], [[8.0, 4.0], [9.0, 9.0], [9.0, 9.0]]])
    made = [Case(x=x, ids=torch.tensor([[4, 7, 5], [6, 0, 0]]), pad_id=0)]
    for lengths, d, pad in (((5, 2), 3, 0), ((3, 1, 4), 3, 9), ((4, 4, 4), 2, 0), ((2,), 5, -1), ((1, 2, 6, 3), 4, 0)):
        ids = torch.randint(1, 9, (len(lengths), max(lengths)), generator=rng)
        ids[torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None]] = pad
        made.append(Case(x=torch.randn(*ids.shape, d, generator=rng), ids=ids, pad_id=pad))
    x = torch.randn(2, 4, 3, generator=rng).index_fill(1, torch.tensor([1]), 0.0)
    made.append(Case("a real vector is all zeros", x=x, ids=torch.tensor([[5, 2, 3, 0], [4, 1, 0, 0]]), pad_id=0))
    return [*made, Case("0 is an ordinary token", x=x + 1, ids=torch.tensor([[0, 4, 0, 9], [3, 9, 9, 9]]), pad_id=9)]


EXERCISE = Exercise(
    cases,
    returns=("means",),
    advice="take one sentence alone, without padding: its mean must not change when a longer one stands beside it.",
)
