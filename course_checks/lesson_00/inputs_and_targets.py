"""0.3 · Inputs and targets."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = [Case(ids=torch.tensor([[5, 7, 2], [4, 9, 0]]), pad_id=0)]
    for digits, pad in (("53", 0), ("3321", 30), ("285", -1), ("4444", 0), ("212", 7), ("16", 0)):
        lengths = torch.tensor([int(digit) for digit in digits])[:, None]
        ids = torch.randint(8, 30, (len(digits), int(max(digits))), generator=rng)
        made.append(Case(ids=ids.masked_fill(torch.arange(ids.shape[1]) >= lengths, pad), pad_id=pad))
    return [*made, Case("0 is an ordinary token", ids=torch.tensor([[0, 4, 0, 9], [3, 0, 8, 8]]), pad_id=8)]


EXERCISE = Exercise(
    cases,
    returns=("inputs", "targets"),
    advice="write the ids of one sentence on a line, and under each token the one that follows it.",
)
