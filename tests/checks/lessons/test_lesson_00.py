"""The worked solutions of lesson 00 against PyTorch."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course_checks.deciding.experiment import decide_experiment
from course_checks.deciding.find import find
from course_checks.engine import SEED
from course_checks.running import observe_answer

BY_PYTORCH = {
    "0.1": lambda x: F.normalize(x, p=1, dim=-1),
    "0.2": lambda sequences, pad_id: nn.utils.rnn.pad_sequence(
        [torch.tensor(ids) for ids in sequences], batch_first=True, padding_value=pad_id
    ),
    "0.3": lambda ids, pad_id: (ids[:, :-1], torch.where(ids == pad_id, -100, ids)[:, 1:]),
    "0.4": lambda x, order: x.movedim(tuple(range(x.dim())), order),
    "0.5": lambda x, y: torch.matmul(x, y.mT),
    "0.6": lambda x, num_heads: torch.stack(x.chunk(num_heads, dim=-1), dim=1),
    "0.7": lambda x, ids, pad_id: x.masked_fill((ids == pad_id)[..., None], torch.nan).nanmean(dim=1),
}
# what the cell of 0.9 measures with seeds 5 to 9, and what it reads off
MEASURED = {
    ("recurrence", 4): [0.0521, 0.0767, 0.048, 0.0335, 0.0823],
    ("recurrence", 8): [0.00115, 0.00164, 0.00214, 0.00185, 0.00214],
    ("recurrence", 16): [8.22e-07, 2.48e-06, 1.99e-05, 2.85e-06, 2.26e-06],
    ("recurrence", 32): [3.43e-12, 5.72e-11, 1.87e-10, 1.81e-12, 1.45e-09],
    ("attention", 4): [0.118, 0.0773, 0.4, 0.343, 0.494],
    ("attention", 8): [0.0393, 0.0612, 0.0879, 0.0327, 0.0255],
    ("attention", 16): [0.102, 0.0331, 0.00381, 0.0148, 0.0444],
    ("attention", 32): [0.0354, 0.0355, 0.00827, 0.0209, 0.0142],
    "fades at": 8,
    "attention loses": 16.4,
    "below equal": 3,
}


@pytest.mark.parametrize("number", BY_PYTORCH)
def test_the_solution_does_what_pytorch_does(number):
    exercise = find(number)
    for case in exercise.cases(SEED):
        torch.testing.assert_close(exercise.right(**case), BY_PYTORCH[number](**case))


def test_the_experiment_accepts_what_its_cell_measures():
    experiment = find("0.9")
    assert decide_experiment(experiment, observe_answer(MEASURED, experiment.call, [])).passed


@pytest.mark.parametrize(("key", "number"), [("fades at", 4), ("attention loses", 1 / 16.4), ("below equal", 2)])
def test_the_experiment_refuses_what_does_not_follow_from_the_numbers(key, number):
    experiment = find("0.9")
    verdict = decide_experiment(experiment, observe_answer(MEASURED | {key: number}, experiment.call, []))
    assert (verdict.passed, verdict.mistake) == (False, key)
