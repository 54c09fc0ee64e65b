"""8.1 · The sinusoidal table."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import POSITIONS
from ..deciding.wrong_answer import symptom


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    many = int(torch.randint(520, 600, (), generator=rng))
    sizes = ((2, 4), (1, 6), (7, 4), (3, 6), (5, 8))
    made = [Case(num_positions=rows, d_model=columns) for rows, columns in sizes]
    made.append(Case("there are more than 500 positions", num_positions=many, d_model=4))
    return [*made, Case("`d_model` is odd", num_positions=3, d_model=5)]


def another_error(answer):
    """Only the odd size is wrong, and it is refused in another way than the task says."""
    seen = answer.observed[answer.first]
    if any(answer.cases[i]["d_model"] % 2 == 0 for i in answer.wrong) or seen["outcome"] != "raised":
        return None
    sentence = f"right for even sizes; an odd d_model ends in {seen['type']}, where a ValueError is asked for."
    advice = "raise it yourself, with a sentence; an assert is left out when Python runs with -O."
    return symptom(sentence, advice, "another error")


EXERCISE = Exercise(
    cases,
    returns=("table",),
    off_limits=POSITIONS,
    symptoms=(another_error,),
    atol=1e-3,  # float32 angles are fine; at 600 positions they are off by one or two in ten thousand
    advice="print your table for 2 positions and d_model 4, and compare it with the example, column by column.",
)
