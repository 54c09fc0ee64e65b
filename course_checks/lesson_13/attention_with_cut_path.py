"""13.6 · Hide one head's note from the keys."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, length, d_model, d_head, eps, *labels, dtype=torch.float32):
        x, written = torch.randn(2, batch, length, d_model, generator=rng, dtype=dtype)
        w_q, w_k = torch.randn(2, d_head, d_model, generator=rng, dtype=dtype)
        norm_weight = 0.5 + torch.rand(d_model, generator=rng, dtype=dtype)
        return Case(
            *labels, x=x, written=1.5 * written, norm_weight=norm_weight, eps=eps, w_q=w_q, w_k=w_k / d_model**0.5
        )

    stream = torch.tensor([[[3.0, 0.0], [1.0, 2.0], [0.0, 4.0]]])
    note = torch.tensor([[[0.0, 0.0], [0.0, 2.0], [-3.0, 1.0]]])
    w_q, w_k = torch.zeros(4, 2), torch.zeros(4, 2)
    w_q[0, 1] = w_q[1, 0] = w_k[0, 0] = w_k[1, 1] = 1.0
    return [
        Case(x=stream, written=note, norm_weight=torch.tensor([1.0, 2.0]), eps=0.0, w_q=w_q, w_k=w_k),
        case(1, 4, 3, 2, 1e-6),
        case(2, 5, 6, 3, 1e-5),
        case(3, 6, 4, 5, 0.5, "eps is large"),
        case(2, 7, 8, 4, 1e-6),
        case(2, 3, 5, 2, 1e-3, dtype=torch.float64),
    ]


EXERCISE = Exercise(
    cases,
    returns=("weights",),
    off_limits=("course_utils.circuits.cut_path",),
    pairs=250,
    advice="work out the example by hand: which vector does each key come from?",
)
