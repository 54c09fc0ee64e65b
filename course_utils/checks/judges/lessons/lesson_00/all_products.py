"""All pairs by einsum."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.shapes import SQUEEZED, one_letter_for_two_axes, same


def all_products(x, y, *, pattern="id,jd->ij", turn=same, finish=same):
    """Rows of ``x`` times rows of ``y``."""
    return finish(torch.einsum(pattern, x, turn(y)))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(x=torch.tensor([[1.0, 2.0], [0.0, 1.0]]), y=torch.tensor([[3.0, 4.0], [5.0, 7.0], [1.0, -2.0]]))]
    for n, m, d in ((5, 7, 3), (4, 2, 6), (4, 4, 4), (1, 1, 3), (5, 7, 3)):
        cases.append(Case(x=torch.randn(n, d, generator=rng), y=torch.randn(m, d, generator=rng)))
    return cases


EXERCISE = Exercise(
    answer="all_products", cases=_cases, reference=all_products, returns=("products",),
    symptoms=(one_letter_for_two_axes,), faults=(
        Fault("transposed", "the transposed result: your rows belong to y, your columns to x.",
              "the order of the letters behind the arrow is the order of the axes.", pattern="id,jd->ji"),
        Fault("nothing summed", "the products for every d, not added up: d still stands behind the arrow.",
              "a letter that is missing behind the arrow is summed over; leave d out there.", pattern="id,jd->ijd"),
        Fault("two letters for d", "two letters for the one axis d: each row is summed alone, the sums are multiplied.",
              "give the last axis of x and of y the same letter; that ties them together.", pattern="id,je->ij"),
        Fault("plain matrix product", "the pattern of x @ y, which meets the columns of x with the rows of y.",
              "both have their vectors in rows: the shared letter comes last in both.", pattern="ij,jk->ik"),
        Fault("y reshaped", "y was brought to (d, m) by reshape or view, which scrambles its numbers.",
              "leave y as it is; the letters say which axis meets which.", turn=lambda y: y.reshape(y.shape[1], -1).T),
        SQUEEZED,
    ), advice="name the axes: x is i d, y is j d, and the result keeps i and j.",
)  # fmt: skip
