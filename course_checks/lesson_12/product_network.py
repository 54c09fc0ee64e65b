"""12.1 · A network that multiplies."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(d_model, size, *labels, dtype=torch.float32):
        a, b = torch.randn(2, d_model, generator=rng, dtype=dtype)
        x = size * torch.randn(5, d_model, generator=rng, dtype=dtype)
        return Case(*labels, a=a, b=b, x=x)

    one, other = torch.eye(2)
    small = "the numbers of `x` are small"
    return [
        Case(a=one, b=other, x=torch.tensor([[3.0, -2.0], [-3.0, -2.0], [0.0, 5.0], [-1.0, 4.0]])),
        case(3, 1.0),
        case(5, 3.0),
        case(4, 0.2, small),
        case(6, 2.0, dtype=torch.float64),
        Case("`a` and `b` are the same", a=one, b=one, x=torch.tensor([[2.0, 7.0], [-4.0, 1.0], [0.5, 0.0]])),
    ]


EXERCISE = Exercise(
    cases,
    returns=("outputs of the network",),
    driver="drive_network",
    advice="work out by hand what each of your features brings for x = [3, -2], and for x = [-3, -2].",
)
