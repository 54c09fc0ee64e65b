"""10.2 · One matrix, two teachers."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L, d_model, vocab, ids, dtype=torch.float32):
        shapes = {"at_vectors": (B, L, d_model), "hidden": (B, L, d_model), "at_logits": (B, L, vocab)}
        return Case(
            ids=torch.tensor(ids).view(B, L),
            **{name: torch.randn(shape, generator=rng, dtype=dtype) for name, shape in shapes.items()},
        )

    def random(number, vocab):  # some come twice, and not all come
        return torch.randint(1, vocab, (number,), generator=rng).clamp(max=vocab - 2).tolist()

    example = Case(
        ids=torch.tensor([[1, 1]]),
        at_vectors=torch.tensor([[[1.0, 0, 0, 0], [0, 2, 0, 0]]]),
        hidden=torch.tensor([[[1.0, 0, 0, 0], [0, 0, 1, 0]]]),
        at_logits=torch.tensor([[[0.5, 0, -0.5], [0, 1, 0]]]),
    )
    return [
        example,
        case(2, 3, 5, 7, [4, 2, 4, 1, 4, 0]),
        case(3, 4, 2, 6, random(12, 6)),
        case(3, 4, 2, 6, random(12, 6)),
        case(4, 5, 9, 8, random(20, 8), torch.float64),
        case(1, 6, 3, 9, [2, 7, 0, 5, 8, 3]),
    ]


EXERCISE = Exercise(
    cases,
    returns=("gradient",),
    off_limits=("torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward"),
    advice="work out the example row by row: what reaches row 1 from the top, and what from each of its two places?",
)
