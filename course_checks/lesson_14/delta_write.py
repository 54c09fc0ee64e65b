"""14.7 · Fade, then replace."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import WITHOUT_SOFTMAX


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, d_k, d_v, *labels, beta=None, decay=None, empty=False, dtype=torch.float32):
        state, key, value = (
            torch.randn(batch, *shape, generator=rng, dtype=dtype) for shape in ((d_k, d_v), (d_k,), (d_v,))
        )
        drawn = torch.rand(batch, generator=rng, dtype=dtype)
        beta = drawn if beta is None else torch.full_like(drawn, beta)
        fading = 0.2 + 0.7 * torch.rand(batch, generator=rng, dtype=dtype)
        fading = fading if decay is None else torch.full_like(fading, decay)
        state = torch.zeros_like(state) if empty else state
        return Case(*labels, state=state, key=2 * key, value=value, decay=fading, beta=beta)

    return [
        Case(
            state=torch.tensor([[[10.0], [5.0]]]),
            key=torch.tensor([[3.0, 4.0]]),
            value=torch.tensor([[20.0]]),
            decay=torch.tensor([0.5]),
            beta=torch.tensor([0.5]),
        ),
        case(2, 3, 4),
        case(3, 5, 2),
        case(4, 3, 3),
        case(3, 4, 6, dtype=torch.float64),
        case(2, 4, 3, "nothing fades", decay=1.0),
        case(2, 4, 3, "beta is 1", beta=1.0),
        case(2, 4, 3, "beta is 0", beta=0.0),
        case(2, 3, 5, "the state is empty", empty=True),
    ]


EXERCISE = Exercise(
    cases,
    returns=("state",),
    off_limits=WITHOUT_SOFTMAX,
    advice="take the example: read the state with [0.6, 0.8] three times: as it was 10, faded 5, after the write 12.5.",
)
