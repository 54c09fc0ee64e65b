"""4.3 · Matrices that make the weights you want."""

import torch

from ..deciding.exercise import Case, Exercise

SIZES = ((2, 2), (3, 5), (4, 4), (5, 7), (3, 5))


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = []
    for place, (L, d_model) in enumerate(SIZES):
        dtype = torch.float64 if place == 2 else torch.float32
        turned = torch.linalg.qr(torch.randn(d_model, d_model, generator=rng, dtype=torch.float64))[0][:L]
        mixed = 1.5 * torch.eye(L, dtype=torch.float64) + 0.7 * torch.ones(L, L, dtype=torch.float64).tril(-1)
        wanted = (1.5 * torch.randn(L, L, generator=rng, dtype=torch.float64)).softmax(-1)
        labels = ["d_model is larger than L"] * (d_model > L)
        made.append(Case(*labels, x=(mixed @ turned).to(dtype), wanted=wanted.to(dtype)))
    small, near, other = torch.tensor(
        [[[0.9999, 0.0001], [0.5, 0.5]], [[1.0, 0.0], [1.0, 0.05]], [[0.75, 0.25], [0.1, 0.9]]], dtype=torch.float64
    )
    made.append(Case("a wanted weight is very small", x=torch.eye(2, dtype=torch.float64), wanted=small))
    return [*made, Case("two tokens are nearly the same", x=near, wanted=other)]


EXERCISE = Exercise(
    cases,
    returns=("the weights that your matrices make",),
    driver="weights_made",
    rtol=1e-3,
    atol=1e-4,
    advice="compute the weights from your two matrices, as the task says, and print them beside wanted.",
    pairs=100,
)
