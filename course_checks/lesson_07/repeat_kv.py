"""7.3 · Share the key/value heads."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(*shape, n, dtype=torch.float32, label=(), **driver):
        return Case(*label, driver=driver, x=torch.randn(shape, generator=rng, dtype=dtype), num_repeats=n)

    return [
        Case(x=torch.tensor([1.0, 2.0]).view(1, 2, 1, 1), num_repeats=2),
        case(2, 3, 5, 4, n=2),
        case(3, 2, 4, 5, n=4, dtype=torch.float64),
        case(2, 4, 3, 6, n=1),
        case(2, 1, 4, 3, n=5),
        case(2, 3, 5, 4, n=2),  # sizes seen before, other numbers
        case(2, 3, 5, 4, n=3, label=("`x` comes from a transpose (it is not contiguous)",), turned=True),
    ]


EXERCISE = Exercise(
    cases,
    returns=("heads",),
    driver="turned",
    off_limits=("course_utils.multi_head.repeat_kv",),
    gradients=True,
    advice="fill head j of x with the number j and look at result[0, :, 0, 0]: it must read 0 0 1 1 2 2.",
)
