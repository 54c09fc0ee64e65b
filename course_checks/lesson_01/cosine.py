"""1.2 · Cosine similarity, zero vectors included."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import symptom
from .common import COSINES

# the guard against zero, which the exercise is about
GUARDS = ("torch.nn.functional.normalize", "course_utils.similarity.normalize")
SHORT, BOTH_SHORT = "a vector is very short, but not zero", "both vectors are very short, but not zero"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    (a, b), (c, d) = (3.0 * torch.randn(2, n, 7, generator=rng) for n in (5, 6))
    a_zeros, b_zeros = torch.randn(2, 5, 7, generator=rng)
    a_zeros[1], b_zeros[3], a_zeros[4], b_zeros[4] = 0.0, 0.0, 0.0, 0.0
    has_zero = torch.tensor([[2.0, 0.0, 1.0], [0.5, 3.0, 0.0]])
    even = torch.tensor([[1.0, -2.0, 1.0], [2.0, -0.5, -1.5]])
    ordinary = torch.tensor([[1.0, 4.0, 2.5], [3.0, 1.0, -2.0]])
    short = [[-2.0, 1.5], [0.0012, 0.0016], [1.2e-7, 1.6e-7], [3e-6, 4e-6]]
    partners = [[1.2e-7, -1.6e-7], [2.0, 1.5], [2.0, 1.5], [4e-6, 3e-6]]
    both = [[6e-8, 8e-8], [8e-8, -6e-8]], [[8e-8, 6e-8], [1.2e-7, 1.6e-7]]
    return [
        Case(a=torch.tensor([[2.0, 3.0]]), b=torch.tensor([[1.0, 4.0]])),
        Case(a=a, b=0.1 * b),
        Case(a=c, b=0.1 * d),
        Case(SHORT, a=torch.tensor(short), b=torch.tensor(partners)),
        Case(BOTH_SHORT, a=torch.tensor(both[0]), b=torch.tensor(both[1])),
        Case("a coordinate is 0", a=has_zero, b=ordinary),
        Case("the coordinates of a vector add up to 0", a=ordinary, b=even),
        Case("a vector is zero", a=torch.tensor([[0.0, 0.0]]), b=torch.tensor([[1.0, 2.0]])),
        Case("a vector is zero", a=a_zeros, b=b_zeros),
    ]


def guard_too_wide(answer):
    """Wrong where vectors are short, and (nearly) right elsewhere: whichever guard it is, and whatever number is in it."""
    short = {i for i in answer.wrong if {SHORT, BOTH_SHORT}.intersection(answer.cases[i].labels)}
    parts = answer.parts() if answer.returned_everywhere() else []
    sides = parts[0].numbers() if parts else None
    if not short or not sides:
        return None
    for expected, actual, pair in sides:
        near = actual.shape == expected.shape and torch.allclose(actual, expected, rtol=0.02, atol=0.01)
        if not actual.isfinite().all() or (pair.index not in short and not near):
            return None
    sentence = "a guard that changes more than the zero vectors: the cosines of very short vectors are wrong."
    advice = (
        "a number that is added, a smallest length, or a test for nearly 0 hits short vectors, too: ask for exactly 0."
    )
    return symptom(sentence, advice, "the guard is too wide")


EXERCISE = Exercise(
    cases,
    returns=("cosines",),
    off_limits=(*COSINES, *GUARDS),
    advice="print a.norm(dim=-1): it must be one length for each row, shape (n,).",
    symptoms=(guard_too_wide,),
)
