"""14.3 · A cache that never grows."""

import torch

from ..deciding.exercise import Case, Exercise

SHORT, FULL = "there is still room", "one has to go"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, kept, d, d_v, window, sinks, *labels, dtype=torch.float32):
        sizes = {"query": (batch, d), "key": (batch, d), "value": (batch, d_v)}
        sizes |= {"keys": (batch, kept, d), "values": (batch, kept, d_v)}
        tensors = {name: torch.randn(*size, generator=rng, dtype=dtype) for name, size in sizes.items()}
        return Case(*labels, **tensors, window=window, sinks=sinks)

    return [
        Case(
            query=torch.tensor([[1.0, 0.0]]),
            key=torch.tensor([[1.0, 0.0]]),
            value=torch.tensor([[4.0]]),
            keys=torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]]),
            values=torch.tensor([[[1.0], [5.0], [3.0]]]),
            window=2,
            sinks=1,
        ),
        case(2, 5, 4, 3, 5, 0, FULL),
        case(2, 7, 6, 4, 4, 3, FULL),
        case(3, 3, 4, 2, 4, 2, SHORT),
        case(2, 0, 4, 3, 3, 2, SHORT, "nothing is kept yet"),
        case(1, 5, 4, 6, 4, 2, SHORT),
        case(2, 4, 6, 2, 1, 3, FULL, dtype=torch.float64),
        case(2, 1, 4, 5, 1, 0, FULL),
        case(2, 2, 4, 3, 6, 0, SHORT),
        case(2, 4, 4, 3, 3, 3, SHORT),
        case(3, 4, 4, 2, 5, 0, SHORT),
    ]


EXERCISE = Exercise(
    cases,
    returns=("output", "keys", "values"),
    off_limits=("course_utils.kv_cache.KVCache", "course_utils.kv_cache.WindowCache"),
    advice="write down for three positions, a window of 1 and one sink what is kept after each step.",
)
