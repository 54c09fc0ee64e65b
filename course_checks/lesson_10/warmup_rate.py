"""10.4 · The warm-up schedule."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    done = int(torch.randint(52, 90, (), generator=torch.Generator().manual_seed(seed)))
    numbers = [(0, 4, 4), (3, 4, 4), (15, 4, 4), (0, 512, 4000), (1, 64, 100), (99, 64, 100), (100, 64, 100)]
    numbers += [(done, 128, 50), (5 * done, 256, 30), (4, 9, 4), (done % 7 + 1, 1, 20), (0, 16, 1), (5, 8, 1)]
    labels = ("the warm-up is not over", "the warm-up is over")
    return [Case(labels[done >= warmup], done=done, d_model=d, warmup=warmup) for done, d, warmup in numbers]


EXERCISE = Exercise(
    cases,
    returns=("rate",),
    off_limits=("course_utils.training.warmup_rate",),
    atol=1e-12,
    advice="for d_model = 4 and warmup = 4 the steps 1, 4 and 16 have the rates 1/16, 1/4 and 1/8.",
)
