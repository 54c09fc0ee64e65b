"""Pooling with given weights."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.shapes import one_letter_for_two_axes, same


def pool(weights, values, *, prepare=same, meet=lambda w, v: w @ v):
    """For every query, the weighted sum of the values."""
    return meet(prepare(weights), values)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    oven = torch.tensor([[[40.0], [60.0], [140.0]]])
    cases = [Case(weights=torch.tensor([[[0.2, 0.4, 0.4], [1.0, 0.0, 0.0]]]), values=oven)]
    for batch, L_q, L_k, d_v in ((2, 5, 7, 3), (4, 3, 2, 6), (3, 4, 4, 2), (2, 5, 7, 3)):
        dtype = torch.float64 if batch == 4 else torch.float32
        weights = torch.randn(batch, L_q, L_k, generator=rng, dtype=dtype).softmax(-1)
        cases.append(Case(weights=weights, values=torch.randn(batch, L_k, d_v, generator=rng, dtype=dtype)))
    return cases


def _products(weights, values):
    return weights[..., None] * values[:, None]


EXERCISE = Exercise(
    answer="pool", cases=_cases, reference=pool, returns=("output",), symptoms=(one_letter_for_two_axes,), faults=(
        Fault("weights transposed", "the weights were transposed: the sum runs over the queries, not over the keys.",
              "leave the weights as they are: weights @ values meet at the keys.", prepare=lambda w: w.mT),
        Fault("softmax applied again", "a softmax of the weights, which flattens them: they are weights already.",
              "use the weights as they are given.", prepare=lambda w: w.softmax(-1)),
        Fault("normalized over the queries", "weights normalized over the queries: rows no longer sum to 1.",
              "use the weights as they are given.", prepare=lambda w: w / w.sum(-2, keepdim=True)),
        Fault("normalized again", "the weights are divided by their sum, 1: right values, other gradients.",
              "use the weights as they are given.", prepare=lambda w: w / w.sum(-1, keepdim=True)),
        Fault("sum over the queries", "the weights were added up over the queries; each value got its total.",
              "keep one row for each query: the sum runs over the keys.", meet=lambda w, v: w.sum(1)[..., None] * v),
        Fault("weights ignored", "average pooling: the weights play no part.", "multiply each value by its weight.",
              meet=lambda w, v: v.mean(1, keepdim=True).expand(-1, w.shape[1], -1)),
        Fault("plain sum", "the sum of all values; the weights play no part.", "multiply each value by its weight.",
              meet=lambda w, v: v.sum(1, keepdim=True).expand(-1, w.shape[1], -1)),
        Fault("best key only", "the value of the key with the largest weight, alone: a hard lookup.",
              "let every value count by its weight.", meet=lambda w, v: v[torch.arange(len(v))[:, None], w.argmax(-1)]),
        Fault("values added over the batch",
              "the values of all items are added up (einsum: two letters for the batch).",
              "give the batch one letter, the same in both.", meet=lambda w, v: torch.einsum("bij,cjd->bid", w, v)),
        Fault("nothing summed", "every value times its weight, of shape (B, L_q, L_k, d_v), not yet added up.",
              "sum over the axis of the keys, dim=2.", meet=_products),
        Fault("value entries summed", "a sum over the entries of the values instead of over the keys.",
              "sum over the axis of the keys; d_v stays.", meet=lambda w, v: _products(w, v).sum(-1)),
        Fault("values turned", "weights times transposed values, entry by entry: right for d_v = 1 only.",
              "weights @ values multiplies and adds in one step.", meet=lambda w, v: (w * v.mT).sum(-1, keepdim=True)),
    ), advice="write the three index loops first: out[b, i] = sum over j of weights[b, i, j] * values[b, j].",
)  # fmt: skip
