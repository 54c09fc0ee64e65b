"""Answers that the first tables of lesson 02 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import functools
import math
import torch
import torch.nn.functional as F
from course_utils import attention
from . import Answers, Right, Wrong


def _ratio(scores, dim=-1, shift=None):
    """exp(s) / sum exp(s); ``shift``: what is subtracted first. ``dim`` None: over everything."""
    dims = tuple(range(scores.dim())) if dim is None else dim
    shifts = {
        "own": lambda: scores.amax(dims, keepdim=True),
        "all": scores.max,
        "mean": lambda: scores.mean(dims, True),
    }
    powers = (scores - shifts[shift]() if shift else scores).exp()
    return powers / powers.sum(dims, keepdim=True)


def _softmax_rows(scores):
    flat = [_softmax_list(row) for row in scores.reshape(-1, scores.shape[-1])]
    return torch.stack(flat).reshape(scores.shape)


def _softmax_list(row):
    powers = [torch.exp(s - max(row)) for s in row]
    return torch.stack([p / sum(powers) for p in powers])


def _by_log_sum(scores):
    top = scores.amax(-1, keepdim=True)
    return (scores - top - (scores - top).exp().sum(-1, keepdim=True).log()).exp()


def _keepdim_missing(scores, where):
    powers = (scores - scores.amax(-1, keepdim=where == "sum")).exp()
    return powers / powers.sum(-1, keepdim=where == "maximum")


SOFTMAX = Answers(
    number="2.1",
    alternatives=(
        Right("shift by the row's maximum", lambda scores: _ratio(scores, -1, "own")),
        Right("max with keepdim", lambda scores: _by_pieces(scores, scores.max(dim=-1, keepdim=True).values)),
        Right("loop over rows", _softmax_rows),
        Right("log of the sum, by hand", _by_log_sum),
        Right(
            "one over a sum of differences",
            lambda scores: 1 / (scores[..., None, :] - scores[..., :, None]).exp().sum(-1),
        ),
        Right("a little added to the sum", lambda scores: _by_pieces(scores, scores.amax(-1, True), 1e-09)),
        Right("PyTorch's own", lambda scores: torch.softmax(scores, dim=-1), off_limits=True),
        Right("tensor method", lambda scores: scores.softmax(-1), off_limits=True),
        Right("functional", lambda scores: F.softmax(scores, dim=-1), off_limits=True),
        Right("module", lambda scores: torch.nn.Softmax(dim=-1)(scores), off_limits=True),
        Right("special", lambda scores: torch.special.softmax(scores, -1), off_limits=True),
        Right("log_softmax", lambda scores: torch.log_softmax(scores, -1).exp(), off_limits=True),
        Right("logsumexp", lambda scores: (scores - torch.logsumexp(scores, -1, keepdim=True)).exp(), off_limits=True),
        Right("the course's own", lambda scores: attention.masked_softmax(scores), off_limits=True),
    ),
    mistakes=(
        Wrong("no shift", _ratio),
        Wrong("over the queries", lambda scores: _ratio(scores, -2, "own")),
        Wrong("over the queries, no shift", lambda scores: _ratio(scores, -2)),
        Wrong("over the first", lambda scores: _ratio(scores, 0, "own")),
        Wrong("over the first, no shift", lambda scores: _ratio(scores, 0)),
        Wrong("over dim 1", lambda scores: _ratio(scores, 1, "own")),
        Wrong("over dim 1, no shift", lambda scores: _ratio(scores, 1)),
        Wrong("over everything", lambda scores: _ratio(scores, None, "own")),
        Wrong("over everything, no shift", lambda scores: _ratio(scores, None)),
        Wrong("shift by the maximum of everything", lambda scores: _ratio(scores, -1, "all")),
        Wrong("shift by the mean", lambda scores: _ratio(scores, -1, "mean")),
        Wrong(
            "shift in the numerator only",
            lambda scores: _by_pieces(scores, scores.amax(-1, True)) * _lost_factor(scores),
        ),
        Wrong("divided by the maximum", lambda scores: _ratio(scores / scores.amax(-1, keepdim=True))),
        Wrong("clamped", lambda scores: _ratio(scores.clamp(-80, 80))),
        Wrong("nan replaced", lambda scores: torch.nan_to_num(_ratio(scores))),
        Wrong("no exponential", lambda scores: scores / scores.sum(-1, keepdim=True)),
        Wrong("not normalized", lambda scores: (scores - scores.amax(-1, keepdim=True)).exp()),
        Wrong("logarithm", lambda scores: torch.log_softmax(scores, -1)),
        *(
            Wrong(f"keepdim missing in {where}", functools.partial(_keepdim_missing, where=where))
            for where in ("maximum", "sum", "both")
        ),
        Wrong("hard maximum", lambda scores: F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)),
    ),
)


def _by_pieces(scores, shift, extra=0.0):
    powers = (scores - shift).exp()
    return powers / (powers.sum(-1, keepdim=True) + extra)


def _lost_factor(scores):
    shifted = (scores - scores.amax(-1, keepdim=True)).exp().sum(-1, keepdim=True)
    return shifted / scores.exp().sum(-1, keepdim=True)


def _additive_layer(query, key, value, W_q, W_k, w_v):
    layer = attention.AdditiveAttention(query.shape[-1], key.shape[-1], len(w_v))
    with torch.no_grad():
        layer.q_proj.weight.copy_(W_q)
        layer.k_proj.weight.copy_(W_k)
        layer.v_proj.weight.copy_(w_v[None])
        return layer(query, key, value)


def _every_pair(query, key, W_q, W_k):
    """(B, L_q, L_k, d_hidden), before the tanh."""
    return (query @ W_q.T)[:, :, None] + (key @ W_k.T)[:, None]


def _additive(scores=None, dim=-1):
    """An answer with other scores, ``scores(query, key, W_q, W_k, w_v)``; ``dim`` None: over keys and queries."""

    def answer(query, key, value, W_q, W_k, w_v):
        raw = (scores or _right_scores)(query, key, W_q, W_k, w_v)
        weights = raw.flatten(1).softmax(-1).view(raw.shape) if dim is None else raw.softmax(dim)
        return (weights @ value, weights)

    return answer


def _right_scores(query, key, W_q, W_k, w_v):
    return torch.tanh(_every_pair(query, key, W_q, W_k)) @ w_v


def _additive_loop(query, key, value, W_q, W_k, w_v):
    scores = torch.zeros(query.shape[0], query.shape[1], key.shape[1], dtype=query.dtype)
    for b in range(query.shape[0]):
        for i in range(query.shape[1]):
            for j in range(key.shape[1]):
                scores[b, i, j] = w_v @ torch.tanh(W_q @ query[b, i] + W_k @ key[b, j])
    weights = torch.softmax(scores, dim=-1)
    return (torch.bmm(weights, value), weights)


def _additive_einsum(query, key, value, W_q, W_k, w_v):
    left, right = (torch.einsum("bid,hd->bih", query, W_q), torch.einsum("bjd,hd->bjh", key, W_k))
    weights = torch.einsum("bijh,h->bij", (left.unsqueeze(2) + right.unsqueeze(1)).tanh(), w_v).softmax(-1)
    return (torch.einsum("bij,bjd->bid", weights, value), weights)


def _additive_concatenated(query, key, value, W_q, W_k, w_v):
    b, l_q, l_k = (query.shape[0], query.shape[1], key.shape[1])
    pairs = torch.cat([query[:, :, None].expand(b, l_q, l_k, -1), key[:, None].expand(b, l_q, l_k, -1)], dim=-1)
    weights = F.softmax(torch.tanh(F.linear(pairs, torch.cat([W_q, W_k], dim=1))) @ w_v, dim=-1)
    return (weights @ value, weights)


def _second_loop_answer(query, key, value, W_q, W_k, w_v):
    rows = [torch.tanh((query[:, i] @ W_q.T)[:, None] + key @ W_k.T) @ w_v for i in range(query.shape[1])]
    weights = torch.stack(rows, dim=1).softmax(-1)
    return (weights @ value, weights)


ADDITIVE = Answers(
    number="2.5",
    alternatives=(
        Right("broadcasting", _additive()),
        Right("three loops", _additive_loop),
        Right("one loop over the queries", _second_loop_answer),
        Right("einsum", _additive_einsum),
        Right("concatenated pairs, one matrix", _additive_concatenated),
        Right(
            "w_v as a column",
            _additive(lambda q, k, W_q, W_k, w_v: (_every_pair(q, k, W_q, W_k).tanh() @ w_v[:, None]).squeeze(-1)),
        ),
        Right(
            "w_v by product and sum",
            _additive(lambda q, k, W_q, W_k, w_v: (w_v * _every_pair(q, k, W_q, W_k).tanh()).sum(dim=-1)),
        ),
        Right("the course's own", lambda *arguments: _additive_layer(*arguments), off_limits=True),
    ),
    mistakes=(
        Wrong("no tanh", _additive(lambda q, k, W_q, W_k, w_v: _every_pair(q, k, W_q, W_k) @ w_v)),
        Wrong(
            "tanh of each",
            _additive(lambda q, k, W_q, W_k, w_v: ((q @ W_q.T).tanh()[:, :, None] + (k @ W_k.T).tanh()[:, None]) @ w_v),
        ),
        Wrong(
            "tanh of the score", _additive(lambda q, k, W_q, W_k, w_v: torch.tanh(_every_pair(q, k, W_q, W_k) @ w_v))
        ),
        Wrong("relu", _additive(lambda q, k, W_q, W_k, w_v: torch.relu(_every_pair(q, k, W_q, W_k)) @ w_v)),
        Wrong("sigmoid", _additive(lambda q, k, W_q, W_k, w_v: torch.sigmoid(_every_pair(q, k, W_q, W_k)) @ w_v)),
        Wrong(
            "hidden units added up",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh(_every_pair(q, k, W_q, W_k)).sum(-1)),
        ),
        Wrong(
            "mean of the hidden units",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh(_every_pair(q, k, W_q, W_k)).mean(-1)),
        ),
        Wrong(
            "query and key added without projection",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh(q[:, :, None] + k[:, None]) @ w_v),
        ),
        Wrong(
            "cut to one size",
            _additive(
                lambda q, k, W_q, W_k, w_v: torch.tanh(_fit(q, len(w_v))[:, :, None] + _fit(k, len(w_v))[:, None]) @ w_v
            ),
        ),
        Wrong(
            "projections multiplied",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh((q @ W_q.T)[:, :, None] * (k @ W_k.T)[:, None]) @ w_v),
        ),
        Wrong(
            "projections subtracted",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh((q @ W_q.T)[:, :, None] - (k @ W_k.T)[:, None]) @ w_v),
        ),
        Wrong(
            "dot product of the projections",
            _additive(lambda q, k, W_q, W_k, w_v: q @ W_q.T @ (k @ W_k.T).transpose(-2, -1)),
        ),
        Wrong(
            "key left out",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh((q @ W_q.T)[:, :, None] + 0 * (k @ W_k.T)[:, None]) @ w_v),
        ),
        Wrong("scaled", _additive(lambda q, k, W_q, W_k, w_v: _right_scores(q, k, W_q, W_k, w_v) / len(w_v) ** 0.5)),
        Wrong("over the queries", _additive(dim=-2)),
        Wrong("over everything", _additive(dim=None)),
        Wrong("over the batch", _additive(dim=0)),
        Wrong(
            "softmax before w_v",
            lambda query, key, value, W_q, W_k, w_v: _pooled(
                torch.softmax(torch.tanh(_every_pair(query, key, W_q, W_k)), dim=-1) @ w_v, value
            ),
        ),
        Wrong(
            "no softmax",
            lambda query, key, value, W_q, W_k, w_v: _pooled(_right_scores(query, key, W_q, W_k, w_v), value),
        ),
        Wrong("one query with one key", lambda query, key, value, W_q, W_k, w_v: query @ W_q.T + key @ W_k.T),
        Wrong(
            "new axes exchanged",
            _additive(lambda q, k, W_q, W_k, w_v: _right_scores(q, k, W_q, W_k, w_v).transpose(-2, -1)),
        ),
        Wrong(
            "matrices exchanged",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh((q @ W_k.T)[:, :, None] + (k @ W_q.T)[:, None]) @ w_v),
        ),
        Wrong("keys pooled", lambda query, key, value, *arrays: _second_loop_answer(query, key, key, *arrays)),
        Wrong(
            "matrices not transposed",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh((q @ W_q)[:, :, None] + (k @ W_k)[:, None]) @ w_v),
        ),
        Wrong(
            "scores returned",
            lambda *arguments: (_additive()(*arguments)[0], _right_scores(arguments[0], arguments[1], *arguments[3:])),
        ),
    ),
)


def _fit(tensor, size):
    return F.pad(tensor, (0, size - tensor.shape[-1]))


def _pooled(weights, value):
    return (weights @ value, weights)


def _attended(weigh):
    """An answer from ``weigh(scores)``."""
    return lambda query, key, value: _pooled(weigh(query @ key.transpose(-2, -1)), value)


def _attend_loop(query, key, value):
    rows = [[[q @ k for k in key[b]] for q in query[b]] for b in range(len(query))]
    weights = torch.stack([torch.stack([_softmax_list(row) for row in item]) for item in rows])
    return (torch.einsum("bij,bjd->bid", weights, value), weights)


BUG = Answers(
    number="2.6",
    alternatives=(
        Right("as given, dim=-1", _attended(lambda s: torch.softmax(s, dim=-1))),
        Right("dim=2", _attended(lambda s: torch.softmax(s, dim=2))),
        Right("masked_softmax", _attended(lambda s: attention.masked_softmax(s))),
        Right("softmax of 2.1", _attended(lambda s: _ratio(s, -1, "own"))),
        Right("transposed, softmax, transposed back", _attended(lambda s: s.mT.softmax(-2).mT)),
        Right("einsum and loops", _attend_loop),
        Right(
            "output from PyTorch's function",
            lambda query, key, value: (
                F.scaled_dot_product_attention(query, key, value, scale=1.0),
                (query @ key.mT).softmax(-1),
            ),
        ),
        Right(
            "the course's own",
            lambda query, key, value: attention.scaled_dot_product_attention(query, key, value, scale=1.0),
            off_limits=True,
        ),
    ),
    mistakes=(
        Wrong("still over the queries", _attended(lambda s: torch.softmax(s, dim=-2))),
        Wrong("over everything", _attended(lambda s: s.flatten(1).softmax(-1).view(s.shape))),
        Wrong("over the batch", _attended(lambda s: torch.softmax(s, dim=0))),
        Wrong("rows divided afterwards", _attended(lambda s: _rows_to_one(s.softmax(-2)))),
        Wrong("two softmaxes", _attended(lambda s: s.softmax(-2).softmax(-1))),
        Wrong("scaled", lambda query, key, value: attention.scaled_dot_product_attention(query, key, value)),
        Wrong("weights transposed", _attended(lambda s: s.softmax(-2).transpose(-2, -1))),
        Wrong("hard maximum", _attended(lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype))),
        Wrong("keys pooled", lambda query, key, value: _pooled((query @ key.transpose(-2, -1)).softmax(-1), key)),
        Wrong("divided by the sum of the output", lambda query, key, value: _mend_by_tens(query, key, value)),
    ),
)


def _rows_to_one(weights):
    return weights / weights.sum(-1, keepdim=True)


def _mend_by_tens(query, key, value):
    weights = (query @ key.transpose(-2, -1)).softmax(-2)
    return (weights @ value / weights.sum(-1, keepdim=True), weights)


EXERCISES = (
    SOFTMAX,
    ADDITIVE,
    BUG,
)
