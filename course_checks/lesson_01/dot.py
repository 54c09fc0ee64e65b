"""1.1 · A dot product for pictures."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import SIMILARITIES
from ..deciding.wrong_answer import symptom

TABLES = "a and b have more than one axis"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = [Case(a=torch.tensor([2.0, 3.0]), b=torch.tensor(b)) for b in ([1.0, 4.0], [-1.0, -2.0])]
    made.append(Case(TABLES, a=torch.tensor([[1.0, 2.0], [3.0, 4.0]]), b=torch.tensor([[5.0, 6.0], [7.0, 8.0]])))
    for shape in ((7,), (301,), (4, 5), (3, 3), (2, 4, 3), (1, 6), (4,)):
        a, b = torch.randn(2, *shape, generator=rng)
        made.append(Case(*[TABLES][: len(shape) > 1], a=a, b=b))
    return made


def returns_nothing(answer):
    """None in every case, perhaps beside something printed."""
    seen = [answer.observed[index] for index in answer.wrong]
    if any(case["outcome"] != "returned" or case["value"]["kind"] != "none" for case in seen):
        return None
    advice = "end with return and the number: what is printed is seen, but not handed back."
    return symptom("your function returns nothing (None).", advice, "returns nothing")


EXERCISE = Exercise(
    cases,
    returns=("the dot product",),
    off_limits=SIMILARITIES,
    atol=1e-4,
    symptoms=(returns_nothing,),
    advice="compute [2, 3] times [1, 4] by hand: 2*1 + 3*4 = 14, and print each step of your code beside it.",
)
