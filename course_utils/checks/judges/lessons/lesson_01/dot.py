"""The dot product."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.pairs import unit
from ...kit.shapes import same


def dot(a, b, *, before=same, multiply=torch.mul, add=torch.sum, finish=same):
    """Multiply coordinate by coordinate, then add."""
    return finish(add(multiply(before(a), before(b))))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(a=torch.tensor([2.0, 3.0]), b=torch.tensor(b)) for b in ([1.0, 4.0], [-1.0, -2.0])]
    return [*cases, *(Case(**dict(zip("ab", torch.randn(2, d, generator=rng), strict=True))) for d in (7, 301, 7))]


EXERCISE = Exercise(
    answer="dot", cases=_cases, reference=dot, returns=("the dot product",), atol=1e-4, faults=(
        Fault("products not added", "the products a_i b_i, one for each coordinate, not yet added up.",
              "the dot product is one number: add the products with .sum().", add=same),
        Fault("sum of sums", "the sum of all coordinates: a and b were added where they should be multiplied.",
              "multiply coordinate by coordinate first, then add.", multiply=torch.add),
        Fault("product of sums", "the sum of a times the sum of b: it adds before it multiplies.",
              "multiply coordinate by coordinate first, then add.", before=torch.sum),
        Fault("mean", "the mean of the products: too small by the factor d.", "use .sum(), not .mean().", add=torch.mean),
        Fault("absolute values", "the sum of the absolute products: the sign is lost.", "[2, 3] times [-1, -2] is -8.",
              add=lambda products: products.abs().sum()),
        Fault("cosine", "the dot product divided by both lengths: that is the cosine.", "leave the lengths in.", before=unit),
        Fault("outer product", "the outer product: every coordinate of a times every coordinate of b, a whole matrix.",
              "pair coordinate i of a with coordinate i of b only.", multiply=torch.outer, add=same),
        Fault("first two", "the first two coordinates only.", "let every coordinate count.", before=lambda v: v[:2]),
        Fault("whole products", "each product is cut to a whole number.", "leave int out.", add=lambda p: p.trunc().sum()),
        Fault("whole number", "the dot product cut to a whole number.", "leave out int and //.", finish=torch.trunc),
    ), advice="compute [2, 3] times [1, 4] by hand: 2*1 + 3*4 = 14, and print each step of your code beside it.",
)  # fmt: skip
