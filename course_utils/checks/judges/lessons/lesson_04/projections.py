"""Two matrices that make a wanted table of weights; the probe hands over the weights that they make."""

import torch

from ...exercise import Case, Exercise
from ...kit.parts import faults_of

SIZES = ((2, 2), (3, 5), (4, 4), (5, 7), (3, 5))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for place, (L, d_model) in enumerate(SIZES):
        dtype = torch.float64 if place == 2 else torch.float32
        turned = torch.linalg.qr(torch.randn(d_model, d_model, generator=rng, dtype=torch.float64))[0][:L]
        mixed = 1.5 * torch.eye(L, dtype=torch.float64) + 0.7 * torch.ones(L, L, dtype=torch.float64).tril(-1)
        wanted = (1.5 * torch.randn(L, L, generator=rng, dtype=torch.float64)).softmax(-1)
        labels = ("d_model is larger than L",) if d_model > L else ()
        cases.append(Case(*labels, x=(mixed @ turned).to(dtype), wanted=wanted.to(dtype)))
    small = torch.tensor([[0.9999, 0.0001], [0.5, 0.5]], dtype=torch.float64)
    cases.append(Case("a wanted weight is very small", x=torch.eye(2, dtype=torch.float64), wanted=small))
    near = torch.tensor([[1.0, 0.0], [1.0, 0.05]], dtype=torch.float64)
    cases.append(
        Case("two tokens are nearly the same", x=near, wanted=torch.tensor([[0.75, 0.25], [0.1, 0.9]]).double())
    )
    return cases


def _projections(
    x, wanted, *, scores=torch.log, factor=lambda L, d_model: L**0.5, undo=torch.linalg.pinv,
    ends=lambda undo, scores: (undo @ scores, undo),
):  # fmt: skip
    return ends(undo(x), scores(wanted) * factor(*x.shape))


_SCALE = "your scores are divided by the root of your d_k: make them larger by that factor first."

FAULTS = (
    *faults_of("scores", "the softmax of log(wanted) is wanted: take the logarithm.",
        ("no logarithm", "the wanted weights themselves stand where the scores should: a softmax of weights is far too even.",
         lambda wanted: wanted),
        ("another base", "a logarithm with base 2, but the softmax takes powers of e.", torch.log2)),
    *faults_of("factor", _SCALE,
        ("scale forgotten", "right but for the division by the root of d_k, which nothing makes up for: too even.",
         lambda L, d_model: 1.0),
        ("divided again", "the scores are divided by the root of d_k, which happens anyway: divided twice, too even.",
         lambda L, d_model: L**-0.5),
        ("times d_k", "the scores are multiplied by d_k, not by its root: too sharp.", lambda L, d_model: float(L)),
        ("root of d_model", "the scores are multiplied by the root of d_model, but your matrices have another d_k.",
         lambda L, d_model: d_model**0.5)),
    *faults_of("undo", "x @ torch.linalg.pinv(x) is the identity.",
        ("transposed tokens", "x.T stands where an inverse should: x @ x.T is the identity for orthonormal rows only.",
         lambda x: x.T),
        ("tokens not undone", "scores and identity are taken as the matrices themselves; x is still in front of them.",
         lambda x: torch.eye(x.shape[1], len(x), dtype=x.dtype)),
        ("inverse of a square only", "torch.linalg.inv works for square x only.", torch.linalg.inv)),
    *faults_of("ends", "row i of the weights belongs to query i: x @ W_q @ (x @ W_k).T is the table of scores.",
        ("turned", "your scores are turned: rows and columns have changed places, by a transposed table or by W_q in the "
         "place of W_k.", lambda undo, s: (undo @ s.T, undo)),
        ("twice the same", "one matrix for both, so your scores are symmetric.", lambda undo, s: (undo @ s, undo @ s))),
)  # fmt: skip

EXERCISE = Exercise(
    answer="projections_for", cases=_cases, reference=_projections, returns=("the weights that your matrices make",),
    faults=FAULTS, rtol=1e-3, atol=1e-4,
    advice="compute the weights from your two matrices, as the task says, and print them beside wanted.",
)  # fmt: skip
