"""Cosine similarity, zero vectors included."""

import itertools

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.pairs import unit
from ...kit.shapes import same


def _divide(dot, of_a, of_b):
    lengths = of_a * of_b
    return dot / lengths.masked_fill(lengths == 0, 1.0)


def cosine(a, b, *, length=lambda v: v.norm(dim=-1), of_a=same, of_b=same, divide=_divide):
    """The dot product of each row divided by both lengths."""
    return divide((a * b).sum(-1), of_a(length(a)), of_b(length(b)))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    (a, b), (c, d) = (3.0 * torch.randn(2, n, 7, generator=rng) for n in (5, 6))
    a_zeros, b_zeros = torch.randn(2, 5, 7, generator=rng)
    a_zeros[1], b_zeros[3], a_zeros[4], b_zeros[4] = 0.0, 0.0, 0.0, 0.0
    has_zero = torch.tensor([[2.0, 0.0, 1.0], [0.5, 3.0, 0.0]])
    even = torch.tensor([[1.0, -2.0, 1.0], [2.0, -0.5, -1.5]])
    other = torch.tensor([[1.0, 4.0, 2.5], [3.0, 1.0, -2.0]])
    return [
        Case(a=torch.tensor([[2.0, 3.0]]), b=torch.tensor([[1.0, 4.0]])),
        Case(a=a, b=0.1 * b), Case(a=c, b=0.1 * d),
        Case("a vector is very short, but not zero",
             a=torch.tensor([[-2.0, 1.5], [0.0012, 0.0016], [1.2e-7, 1.6e-7], [3e-6, 4e-6]]),
             b=torch.tensor([[1.2e-7, -1.6e-7], [2.0, 1.5], [2.0, 1.5], [4e-6, 3e-6]])),
        Case("both vectors are very short, but not zero",
             a=torch.tensor([[6e-8, 8e-8], [8e-8, -6e-8]]), b=torch.tensor([[8e-8, 6e-8], [1.2e-7, 1.6e-7]])),
        Case("a coordinate is 0", a=has_zero, b=other), Case("the coordinates of a vector add up to 0", a=other, b=even),
        Case(a=torch.tensor([[0.0, 0.0]]), b=torch.tensor([[1.0, 2.0]])), Case(a=a_zeros, b=b_zeros),
    ]  # fmt: skip


ZEROS = {"a alone": (0, 1), "b alone": (1, 0), "both a and b": (0, 0)}


def _left_open(kinds):
    """A guard that leaves NaN for these kinds of zero vectors."""
    left = lambda a, b: sum((a.sign() == s) & (b.sign() == t) for s, t in map(ZEROS.get, kinds)) > 0  # noqa: E731
    return lambda dot, a, b: _divide(dot, a, b).masked_fill(left(a, b), torch.nan)


GUARDS = {
    "{:g} added to the product of the lengths": lambda eps: lambda dot, a, b: dot / (a * b + eps),
    "a product of lengths below {:g} raised to that": lambda eps: lambda dot, a, b: dot / (a * b).clamp(min=eps),
    "lengths below {:g} raised to that": lambda eps: lambda dot, a, b: dot / (a.clamp(min=eps) * b.clamp(min=eps)),
}

EXERCISE = Exercise(
    answer="cosine", cases=_cases, reference=cosine, returns=("cosines",), faults=(
        Fault("no guard", "the formula without a guard: a zero vector has length 0, and 0 / 0 is NaN.",
              "where a length is 0, divide by 1 (masked_fill): the result is 0.", divide=lambda dot, a, b: dot / (a * b)),
        *(Fault(f"guard with a gap, {' and '.join(kinds)}", f"NaN where {' or '.join(kinds)} is the zero vector: your guard does "
                "not cover that.", "guard the product of the lengths: it is 0 as soon as one is.", divide=_left_open(kinds))
          for n in (1, 2) for kinds in itertools.combinations(ZEROS, n)),
        Fault("squared lengths", "the dot product divided by the squared lengths.",
              "the length is the square root of the sum of squares: a.norm(dim=-1).", length=lambda v: (v * v).sum(-1)),
        Fault("no lengths", "the plain dot product: nothing was divided by a length.",
              "divide by the length of a and by the length of b.", length=lambda v: torch.ones(len(v))),
        *(Fault(f"length of {v} missing", f"nothing was divided by the length of {v}, which still counts.", "divide by both "
                "lengths; every result must then lie between -1 and 1.", **{f"of_{v}": torch.ones_like}) for v in "ba"),
        Fault("one for zero vectors", '1 for a zero vector: that says "same direction".', "return 0 for it.",
              divide=lambda dot, a, b: _divide(dot, a, b).masked_fill(a * b == 0, 1.0)),
        *(Fault(name.format(eps), f"a guard that changes the cosine of short vectors: {name.format(eps)}.",
                "change the length only where it is exactly 0.", divide=guard(eps))
          for name, guard in GUARDS.items() for eps in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12, 1e-15)),
        Fault("length of the matrix", "a.norm() without dim is one length for the whole matrix, not one for each row.",
              "the length of every row: a.norm(dim=-1).", length=lambda v: v.norm().expand(len(v))),
        Fault("whole matrix", "every row of a against every row of b; asked for is row i with row i.",
              "multiply element by element and sum over the last dimension.", whole=lambda a, b: unit(a) @ unit(b).T),
    ), advice="print a.norm(dim=-1): it must be one length for each row, shape (n,).",
)  # fmt: skip
