"""13.5 · Shares of a logit."""

import torch

from ..deciding.exercise import Case, Exercise

NAMES = ("embedding", "layers.0 head 0", "layers.0 head 1", "layers.0 network", "layers.1 head 0")


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, length, d_model, count, eps, *labels, dtype=torch.float32):
        sizes = torch.linspace(0.5, 2.0, count, dtype=dtype)
        parts = {
            name: size * torch.randn(batch, length, d_model, generator=rng, dtype=dtype)
            for name, size in zip(NAMES[:count], sizes, strict=True)
        }
        norm_weight = 0.5 + torch.rand(d_model, generator=rng, dtype=dtype)
        row = torch.randn(d_model, generator=rng, dtype=dtype)
        return Case(*labels, parts=parts, norm_weight=norm_weight, eps=eps, row=row)

    example = {"embedding": torch.tensor([[[3.0, 0.0]]]), "head": torch.tensor([[[0.0, 4.0]]])}
    large = "eps is large"
    return [
        Case(parts=example, norm_weight=torch.tensor([1.0, 2.0]), eps=0.0, row=torch.ones(2)),
        case(1, 3, 4, 2, 1e-6),
        case(2, 5, 6, 4, 1e-5),
        case(3, 4, 7, 3, 0.5, large),
        case(2, 3, 5, 5, 2.0, large),
        case(2, 6, 3, 3, 1e-3, dtype=torch.float64),
        case(2, 2, 8, 1, 1e-6, "there is only one part"),
    ]


EXERCISE = Exercise(
    cases,
    returns=("shares",),
    off_limits=("course_utils.circuits.contributions", "course_utils.circuits.Contributions"),
    advice="take the two parts of the example, and see whether your shares add up to 3.111.",
)
