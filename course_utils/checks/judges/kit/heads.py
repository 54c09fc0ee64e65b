"""Splitting into heads and merging again, in steps, and what goes wrong there: shared by the exercises of lesson 06."""

import re

import torch

from ..symptoms.view import Told, View
from .parts import faults_of


def split(x, num_heads):
    """``(B, L, H * d_head)`` to ``(B, H, L, d_head)``."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge(x):
    """``(B, H, L, d_head)`` to ``(B, L, H * d_head)``."""
    return x.transpose(1, 2).flatten(2)


def _overlapping(x, n):
    return torch.stack([x[..., h : h + x.shape[-1] // n] for h in range(n)], dim=1)


_CUT = "cut the last axis first, to (B, L, H, d_head), then transpose axes 1 and 2."
_BACK = "exchange axes 1 and 2 first, to (B, L, H, d_head); then join the last two axes."
_TOGETHER = "keep each head together: (B, L, H, d_head), then join the last two axes."
_WIDE = "put them side by side: the last axis has H * d_head features."
_EVERY = "go through all heads, however many there are."

SPLIT_FAULTS = faults_of("split", _CUT,
    ("straight view", "one view straight to (B, H, L, d_head): a head holds a piece of the sequence, not of every token.",
     lambda x, n: x.reshape(x.shape[0], n, x.shape[1], -1)),
    ("interleaved", "the features are dealt out in turn: head 0 has features 0, H, 2H and so on.",
     lambda x, n: x.unflatten(-1, (-1, n)).permute(0, 3, 1, 2),
     "the heads come before the features in the cut: (B, L, H, d_head), so that a head has neighbors."),
    ("nothing cut", "the whole input is handed to every head: nothing was cut.",
     lambda x, n: x[:, None].expand(-1, n, -1, -1), "each head gets d_model // num_heads of the features."),
    ("one head", "one head of full width, whatever num_heads says.", lambda x, n: x[:, None]),
    ("overlapping slices", "slices start at feature h: neighboring heads share all but one of their features.", _overlapping,
     "head h starts at feature h * d_head and ends before (h + 1) * d_head."),
)  # fmt: skip

MERGE_FAULTS = faults_of("merge", _BACK,
    ("no transpose back", "a reshape without the transpose back: the rows of one head were put behind one another.",
     lambda x: x.reshape(x.shape[0], x.shape[2], -1)),
    ("view", "a view of a transposed tensor, whose numbers do not lie in that order in memory.",
     lambda x: x.transpose(1, 2).view(x.shape[0], x.shape[2], -1),
     "copy them into order with contiguous() first, or use reshape or flatten."),
    ("merged interleaved", "the heads are dealt out in turn: feature 0 of every head, then feature 1 of every head.",
     lambda x: x.permute(0, 2, 3, 1).flatten(2), _TOGETHER),
    ("wrong axes exchanged", "axes 2 and 3 are exchanged in the merge instead of 1 and 2.",
     lambda x: x.transpose(2, 3).reshape(x.shape[0], x.shape[2], -1),
     "the heads are axis 1 and the tokens axis 2: those two change places."),
    ("heads averaged", "the heads are averaged into one of size d_head; what they found is blended together.",
     lambda x: x.mean(1), _WIDE),
    ("heads added", "the heads are added up; what they found is blended together.", lambda x: x.sum(1), _WIDE),
    ("not joined", "the heads were not joined: they still have an axis of their own.", lambda x: x.transpose(1, 2)),
    ("along the sequence", "the heads stand one after another along the sequence: (B, H * L, d_head).",
     lambda x: x.flatten(1, 2), "the heads belong side by side in the features: (B, L, H * d_head)."),
    ("first head only", "head 0 stands alone.", lambda x: x[:, 0], "all heads go side by side into the last axis."),
    ("first and last head", "only the first and the last head were joined: right for two heads alone.",
     lambda x: torch.cat([x[:, 0], x[:, -1]], -1), _EVERY),
    ("first two heads", "only the first two heads were joined: right for two heads alone.",
     lambda x: torch.cat([x[:, 0], x[:, 1]], -1), _EVERY),
    ("last head first", "the heads stand in reversed order, the last one first.", lambda x: merge(x.flip(1)),
     "head 0 comes first."),
)  # fmt: skip

_ROOT = "divide the scores by the root of the size of one head, q.shape[-1] after the split."

FACTOR_FAULTS = faults_of("factor", _ROOT,  # factor(q, k, query), q and k with the heads as axis 1
    ("no scaling", "the scores are not scaled.", lambda q, k, query: 1.0),
    ("divided by d_head", "the scores are divided by d_head itself, not by its root.", lambda q, k, query: 1 / q.shape[-1]),
    ("root of d_model", "the scores are divided by the root of d_model; your weights are too even.",
     lambda q, k, query: (q.shape[1] * q.shape[-1]) ** -0.5),
    ("root of d_in", "the scores are divided by the root of d_in, the size of what goes into the projections.",
     lambda q, k, query: query.shape[-1] ** -0.5),
    ("root of L_k", "the scores are divided by the root of the number of keys.", lambda q, k, query: k.shape[-2] ** -0.5),
    ("root of H", "the scores are divided by the root of the number of heads: an axis was mistaken.",
     lambda q, k, query: q.shape[1] ** -0.5),
)  # fmt: skip

_KEYS = "normalize over the axis of the keys; sum your weights over each axis to see."

WEIGHING_FAULTS = faults_of("weigh", _KEYS,  # weigh(scores), scores (B, H, L_q, L_k)
    ("over the queries", "a softmax over the queries: your weights sum to 1 over the queries, they should over the keys.",
     lambda s: s.softmax(2)),
    ("over the heads", "a softmax over the heads: your weights sum to 1 over the heads, they should over the keys.",
     lambda s: s.softmax(1)),
    ("over queries and keys", "one softmax over queries and keys together: your weights sum to 1 over a whole table.",
     lambda s: s.flatten(2).softmax(2).view_as(s)),
    ("hard maximum", "a hard maximum: each query takes one key alone.",
     lambda s: torch.zeros_like(s).scatter(-1, s.argmax(-1, keepdim=True), 1.0),
     "use a softmax: every key that may be seen gets a share."),
)  # fmt: skip


_UNFIT = re.compile(r"\(\d+x(\d+) and (\d+)x\1\)|has size (\d+) for operand 1 .* previously seen size (\d+)")


def untransposed(view: View) -> Told | None:
    """It stops where a matrix of shape (out, in) meets vectors of size ``in`` by its other side."""
    found = _UNFIT.search(view.cases[view.first].get("message", ""))
    if found is None:
        return None
    sizes = {int(size) for size in found.groups() if size}
    case = view.inputs[view.first]
    tensors = [t for t in [*case.values(), *case.get("params", {}).values()] if isinstance(t, torch.Tensor)]
    if not any(t.dim() == 2 and sizes <= set(t.shape) for t in tensors):
        return None
    said = "a projection by the matrix as it is: that fits only where both of its sizes are equal."
    advice = "the matrices have shape (out, in): x @ W.T, or einsum 'bli,oi->blo'."
    return Told("symptom", "matrix not transposed", said, advice)
