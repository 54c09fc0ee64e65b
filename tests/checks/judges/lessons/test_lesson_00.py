"""The references of lesson 00's checks against PyTorch."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find

TRUTH = {
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


@pytest.mark.parametrize("number", TRUTH)
def test_reference_is_pytorchs(number):
    exercise = find(number)
    for case in exercise.cases(SEED):
        torch.testing.assert_close(exercise.reference(**case), TRUTH[number](**case))
