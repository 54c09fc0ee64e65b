"""All pairs by einsum, in every sentence and head."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.shapes import one_letter_for_two_axes, same

SIZES = ((2, 3, 5, 7, 4), (3, 2, 4, 2, 6), (3, 3, 3, 3, 3), (2, 4, 1, 1, 3), (1, 2, 4, 5, 3), (2, 3, 5, 7, 4))


def all_products(x, y, *, pattern="bhid,bhjd->bhij", turn=same):
    """Rows of ``x`` times rows of ``y``."""
    return torch.einsum(pattern, x, turn(y))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    y = torch.tensor([[[[3.0, 4], [5, 7]]], [[[1, 1], [2, 6]]]])
    cases = [Case(x=torch.tensor([[[[1.0, 2.0]]], [[[3.0, 0.0]]]]), y=y)]
    for b, h, n, m, d in SIZES:
        cases.append(Case(x=torch.randn(b, h, n, d, generator=rng), y=torch.randn(b, h, m, d, generator=rng)))
    return cases


EXERCISE = Exercise(
    answer="all_products", cases=_cases, reference=all_products, returns=("products",),
    symptoms=(one_letter_for_two_axes,), faults=(
        Fault("transposed", "the transposed result: your rows belong to y, your columns to x.",
              "the order of the letters behind the arrow is the order of the axes.", pattern="bhid,bhjd->bhji"),
        Fault("nothing summed", "the products for every d, not added up: d still stands behind the arrow.",
              "a letter that is missing behind the arrow is summed over; leave d out there.", pattern="bhid,bhjd->bhijd"),
        Fault("two letters for d", "two letters for the one axis d: each row is summed alone, the sums are multiplied.",
              "give the last axis of x and of y the same letter; that ties them together.", pattern="bhid,bhje->bhij"),
        Fault("heads of y added", "the heads of y are added up: they have a letter of their own, missing behind the arrow.",
              "give the axis of heads the same letter in x and y.", pattern="bhid,bgjd->bhij"),
        Fault("sentences of y added", "the sentences of y are added up: its first axis has a letter of its own.",
              "give the first axis of x and y the same letter.", pattern="bhid,chjd->bhij"),
        Fault("sentences and heads added", "the products are added up over all sentences and heads.",
              "only d is summed: b and h stay behind the arrow.", pattern="bhid,bhjd->ij"),
        Fault("all pairs of heads", "the products of every head of x with every head of y: the heads have two letters.",
              "give the axis of heads the same letter in x and y.", pattern="bhid,bgjd->bhgij"),
        Fault("first head of y alone", "every head of x meets the first head of y.",
              "keep the axis of heads in y: no index there.", turn=lambda y: y[:, :1].expand_as(y)),
        Fault("y reshaped", "y was brought to (B, H, d, m) by reshape or view, which scrambles its numbers.",
              "leave y as it is.", turn=lambda y: y.reshape(*y.shape[:2], y.shape[3], y.shape[2]).mT),
    ), advice="name the axes: x is b h i d, y is b h j d, and the result keeps all but d.",
)  # fmt: skip
