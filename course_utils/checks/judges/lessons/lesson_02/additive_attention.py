"""Additive attention."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...kit.shapes import same, without_new_axes
from .attend import AFTER_THE_SCORES


def additive_attention(
    query, key, value, W_q, W_k, w_v, *, of_query=lambda q, W_q, W_k: q @ W_q.T, of_key=lambda k, W_q, W_k: k @ W_k.T,
    join=lambda q, k: q[:, :, None] + k[:, None], bend=torch.tanh, read=lambda hidden, w_v: hidden @ w_v, arrange=same,
    weigh=lambda s: s.softmax(-1), pool=lambda w, k, v: w @ v,
):  # fmt: skip
    """Output and weights; each keyword is one step."""
    weights = weigh(arrange(read(bend(join(of_query(query, W_q, W_k), of_key(key, W_q, W_k))), w_v)))
    return pool(weights, key, value), weights


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases, names = [], ("query", "key", "value", "W_q", "W_k", "w_v")
    sizes = ((1, 2, 3, 5, 2, 4, 1), (2, 5, 7, 3, 4, 6, 8), (3, 4, 2, 6, 5, 3, 2), (2, 3, 3, 4, 4, 4, 4))
    for b, L_q, L_k, d_q, d_k, d_hidden, d_v in (*sizes, sizes[1]):
        shapes = ((b, L_q, d_q), (b, L_k, d_k), (b, L_k, d_v), (d_hidden, d_q), (d_hidden, d_k), (d_hidden,))
        dtype = torch.float64 if b == 3 else torch.float32
        case = {name: torch.randn(shape, generator=rng, dtype=dtype) for name, shape in zip(names, shapes, strict=True)}
        case["W_q"], case["W_k"] = 1.2 * case["W_q"] / d_q**0.5, 1.2 * case["W_k"] / d_k**0.5
        cases.append(Case(**case))
        if b == 3:
            large = Case("the scores are very large", values_only=True, **(case | {"w_v": 2000 * case["w_v"]}))
    return [*cases, large]


_AXES = "queries get their new axis behind them, [:, :, None], keys before them, [:, None]."

EXERCISE = Exercise(
    answer="additive_attention", cases=_cases, reference=additive_attention, returns=("output", "weights"), atol=2e-5,
    symptoms=(without_new_axes("query", "key"),), faults=(
        *faults_of("bend", "put torch.tanh around the sum of the two projections, before w_v.",
            ("no tanh", "a score without a tanh: the query adds the same to all keys, so all your rows are equal.", same),
            ("relu", "a ReLU in the place of the tanh.", torch.relu),
            ("sigmoid", "a sigmoid in the place of the tanh.", torch.sigmoid)),
        *faults_of("join", "the additive score adds them: W_q q + W_k k.",
            ("projections multiplied", "the two projections were multiplied.", lambda q, k: q[:, :, None] * k[:, None]),
            ("projections subtracted", "one projection was subtracted.", lambda q, k: q[:, :, None] - k[:, None])),
        *faults_of("read", "multiply the hidden layer with w_v alone: every unit has a weight of its own.",
            ("hidden units added up", "the hidden units were added up, without w_v.", lambda hidden, w_v: hidden.sum(-1)),
            ("scaled", "the scores divided by the root of d_hidden; scaling belongs to the dot product.",
             lambda hidden, w_v: hidden @ w_v / len(w_v) ** 0.5)),
        *faults_of("arrange", _AXES,
            ("new axes exchanged", "the two new axes are exchanged: your scores have shape (B, L_k, L_q), keys first.",
             lambda scores: scores.mT),
            ("scores reshaped", "the scores were made as (B, L_k, L_q), then reshaped to (B, L_q, L_k).",
             lambda scores: scores.mT.reshape(scores.shape))),
        *(Fault(name, said, "compute query @ W_q.T and key @ W_k.T, and add those.", of_query=of_query, of_key=of_key)
          for name, said, of_query, of_key in (
            ("without projection", "query and key were added as they are; they must be projected to d_hidden first.",
             lambda q, W_q, W_k: q, lambda k, W_q, W_k: k),
            ("matrices not transposed", "W_q and W_k were not transposed; they are (out, in).",
             lambda q, W_q, W_k: q @ W_q, lambda k, W_q, W_k: k @ W_k),
            ("matrices reshaped", "W_q and W_k were brought to (in, out) by reshape, which scrambles them.",
             lambda q, W_q, W_k: q @ W_q.reshape(W_q.T.shape), lambda k, W_q, W_k: k @ W_k.reshape(W_k.T.shape)),
            ("matrices exchanged", "queries were multiplied with W_k, keys with W_q.",
             lambda q, W_q, W_k: q @ W_k.T, lambda k, W_q, W_k: k @ W_q.T))),
        Fault("tanh of each", "the query plays no part: left out, or outside the tanh of the key, where it cancels.",
              "take tanh of the sum.", join=lambda q, k: q.tanh()[:, :, None] + k.tanh()[:, None], bend=same),
        Fault("tanh of the score", "tanh of the finished score; it belongs inside, on the hidden layer.",
              "take tanh before the product with w_v.", bend=same, arrange=torch.tanh),
        Fault("dot product", "the dot product of the two projections: that is the other score.", "add them, take tanh, "
              "multiply with w_v.", join=lambda q, k: q @ k.mT, bend=same, read=lambda hidden, w_v: hidden),
        *AFTER_THE_SCORES,
    ), advice="print the shapes: two projections, then (B, L_q, L_k, d_hidden), then the scores (B, L_q, L_k).",
)  # fmt: skip
