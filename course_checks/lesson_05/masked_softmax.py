"""5.5 · Rows in which everything is masked."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import ATTENTIONS, LOW, MASKS, one_key_mask, random_mask

LOWEST = -1e30  # above the smallest number of float32, and below any "large negative number" that one would write


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def mask_with_empty(shape, *rows):
        mask = random_mask(shape, rng)
        for row in rows:
            mask[row] = False
        return mask

    mask = torch.tensor([[True, True, False], [False, False, False]])
    made = [Case(scores=torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 0.5]]), mask=mask)]
    for shape, rows, empty in (
        ((2, 5, 7), 5, ((0, 1), (1, 4))),
        ((3, 4, 6), 1, ((1,),)),
        ((2, 5, 7), 5, ((0, 2), (1, 0))),
    ):
        dtype, far = (
            (torch.float64, 300.0) if rows == 1 else (torch.float32, 0.0)
        )  # in float32 such scores would be off
        mask = mask_with_empty((shape[0], rows, shape[2]), *empty)
        made.append(Case(scores=torch.randn(shape, generator=rng, dtype=dtype) + far, mask=mask))
    mask = mask_with_empty((4, 5), 2)
    scores = torch.randn(4, 5, generator=rng) + 100.0 * torch.tensor([[1.0], [-1.0], [1.0], [0.0]])
    low, lower = torch.randn(2, 6, generator=rng) + LOW, LOWEST * (1 + torch.arange(6.0).expand(2, 6) / 8)
    lowest = torch.tensor([[1.0], [1.5]]) * LOWEST + torch.randn(2, 6, generator=rng)
    broken, with_nan = torch.randn(4, 6, generator=rng), mask_with_empty((4, 6), 1)
    broken[0, int(with_nan[0].nonzero()[-1])] = torch.nan
    open_or_empty = torch.tensor([[True] * 4, [False] * 4, [True] * 4])
    equal = torch.randn(3, 1, generator=rng).expand(3, 4).clone()
    return [
        *made,
        Case("scores are large", scores=scores + 1e6 * ~mask, mask=mask),
        Case("all scores are near -100000", scores=low, mask=one_key_mask((2, 6), rng)),
        Case("all scores are near -1e30", scores=lower, mask=random_mask((2, 6), rng)),
        Case("all scores are near -1e30", scores=lowest, mask=one_key_mask((2, 6), rng)),
        Case("an allowed score is NaN", values_only=True, scores=broken, mask=with_nan),
        Case("no row is empty", scores=torch.randn(3, 8, generator=rng), mask=random_mask((3, 8), rng)),
        Case("a row that hides nothing has equal scores", scores=equal, mask=open_or_empty),
    ]


def compared(case, weights):
    """In a row with an allowed NaN, the hidden weights may be 0 or NaN: NaN is compared as 0 there."""
    scores, mask = case["scores"], case["mask"]
    if not isinstance(weights, torch.Tensor) or weights.shape != scores.shape:
        return weights
    broken = (scores.isnan() & mask).any(-1, keepdim=True)
    return weights.masked_fill(broken & ~mask & weights.isnan(), 0.0)


EXERCISE = Exercise(
    cases,
    returns=("weights",),
    off_limits=("torch.masked.softmax", *ATTENTIONS, *MASKS),
    gradients=True,
    compared=compared,
    advice="print the weights of a row that allows something and of one that allows nothing, then their gradients.",
)
