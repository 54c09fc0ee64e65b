"""0.1 · Shares without the padding."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import symptom

TOO_MANY = "it loops: more than 60 operations, or 300 steps of Python"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    x = torch.tensor([[[1.0, 3.0, 4.0], [2.0, 2.0, 4.0]], [[1.0, 1.0, 2.0], [3.0, 1.0, 4.0]]])
    made = [Case(x=x, real=torch.tensor([[True, True, False], [True, True, True]]))]
    for B, n, m in ((2, 5, 3), (3, 3, 4), (2, 4, 4), (1, 2, 6), (4, 4, 4)):
        made.append(Case(**_some(B, n, m, rng)))
    double, small = _some(3, 2, 5, rng), _some(2, 3, 4, rng)
    made.append(Case(**double | {"x": double["x"].double()}))
    made.append(Case("the numbers are small", **small | {"x": 1e-7 * small["x"]}))
    made.append(Case("the numbers are large", **small | {"x": 100 * small["x"]}))
    made.append(Case("there are many sentences", **_some(400, 2, 3, rng)))
    return [*made, Case("there are many rows", **_some(2, 400, 3, rng))]


def _some(B, n, m, rng):
    """Positive numbers, and real tokens: in the first sentence all but the last, in the others at least the first."""
    real = torch.arange(m) < torch.randint(1, m + 1, (B, 1), generator=rng)
    real[0] = torch.arange(m) < m - 1
    return {"x": 0.1 + 5.0 * torch.rand(B, n, m, generator=rng), "real": real}


def loops(answer):
    """Stopped for the number of its operations, in the first case that is wrong."""
    stopped = [answer.observed[index].get("message") == TOO_MANY for index in answer.wrong]
    if not stopped[0]:
        return None
    right = "right in the other cases, but " if all(stopped) else ""
    sentence = f"{right}it loops over sentences or rows, with operations or steps of Python for each."
    return symptom(sentence, "give real and the sums an axis of size 1, and one operation does all rows.", "loops")


EXERCISE = Exercise(
    cases,
    returns=("shares",),
    off_limits=("torch.nn.functional.normalize", "torch.distributions.Categorical", "torch.distributions.Dirichlet"),
    most_operations=60,
    too_many=TOO_MANY,
    advice="print the shapes of x, of real and of your sums: which axis of size 1 is missing in the last two?",
    symptoms=(loops,),
)
