"""Splitting into heads and merging again, in steps, and what goes wrong there: shared by the exercises of lesson 06."""

import re

import torch

from ..exercise import Fault
from ..symptoms.view import Told, View


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

SPLIT_FAULTS = (
    Fault("straight view",
        "one view straight to (B, H, L, d_head): a head holds a piece of the sequence, not of every token.", _CUT,
        split=lambda x, n: x.reshape(x.shape[0], n, x.shape[1], -1)),
    Fault("interleaved", "the features are dealt out in turn: head 0 has features 0, H, 2H and so on.",
        "the heads come before the features in the cut: (B, L, H, d_head), so that a head has neighbors.",
        split=lambda x, n: x.unflatten(-1, (-1, n)).permute(0, 3, 1, 2)),
    Fault("nothing cut", "the whole input is handed to every head: nothing was cut.",
        "each head gets d_model // num_heads of the features.", split=lambda x, n: x[:, None].expand(-1, n, -1, -1)),
    Fault("one head", "one head of full width, whatever num_heads says.", _CUT, split=lambda x, n: x[:, None]),
    Fault("overlapping slices", "slices start at feature h: neighboring heads share all but one of their features.",
        "head h starts at feature h * d_head and ends before (h + 1) * d_head.", split=_overlapping),
)  # fmt: skip

MERGE_FAULTS = (
    Fault("no transpose back",
        "a reshape without the transpose back: the rows of one head were put behind one another.", _BACK,
        merge=lambda x: x.reshape(x.shape[0], x.shape[2], -1)),
    Fault("view", "a view of a transposed tensor, whose numbers do not lie in that order in memory.",
        "copy them into order with contiguous() first, or use reshape or flatten.",
        merge=lambda x: x.transpose(1, 2).view(x.shape[0], x.shape[2], -1)),
    Fault("merged interleaved",
        "the heads are dealt out in turn: feature 0 of every head, then feature 1 of every head.", _TOGETHER,
        merge=lambda x: x.permute(0, 2, 3, 1).flatten(2)),
    Fault("wrong axes exchanged", "axes 2 and 3 are exchanged in the merge instead of 1 and 2.",
        "the heads are axis 1 and the tokens axis 2: those two change places.",
        merge=lambda x: x.transpose(2, 3).reshape(x.shape[0], x.shape[2], -1)),
    Fault("heads averaged", "the heads are averaged into one of size d_head; what they found is blended together.",
        "put them side by side: the last axis has H * d_head features.", merge=lambda x: x.mean(1)),
    Fault("heads added", "the heads are added up; what they found is blended together.",
        "put them side by side: the last axis has H * d_head features.", merge=lambda x: x.sum(1)),
    Fault("not joined", "the heads were not joined: they still have an axis of their own.", _BACK,
        merge=lambda x: x.transpose(1, 2)),
    Fault("along the sequence", "the heads stand one after another along the sequence: (B, H * L, d_head).",
        "the heads belong side by side in the features: (B, L, H * d_head).", merge=lambda x: x.flatten(1, 2)),
    Fault("first head only", "head 0 stands alone.", "all heads go side by side into the last axis.",
        merge=lambda x: x[:, 0]),
    Fault("first and last head", "only the first and the last head were joined: right for two heads alone.",
        "go through all heads, however many there are.", merge=lambda x: torch.cat([x[:, 0], x[:, -1]], -1)),
    Fault("first two heads", "only the first two heads were joined: right for two heads alone.",
        "go through all heads, however many there are.", merge=lambda x: torch.cat([x[:, 0], x[:, 1]], -1)),
    Fault("last head first", "the heads stand in reversed order, the last one first.", "head 0 comes first.",
        merge=lambda x: merge(x.flip(1))),
)  # fmt: skip

_ROOT = "divide the scores by the root of the size of one head, q.shape[-1] after the split."

FACTOR_FAULTS = (  # factor(q, k, query), q and k with the heads as axis 1
    Fault("no scaling", "the scores are not scaled.", _ROOT, factor=lambda q, k, query: 1.0),
    Fault("divided by d_head", "the scores are divided by d_head itself, not by its root.", _ROOT,
        factor=lambda q, k, query: 1 / q.shape[-1]),
    Fault("root of d_model", "the scores are divided by the root of d_model; your weights are too even.", _ROOT,
        factor=lambda q, k, query: (q.shape[1] * q.shape[-1]) ** -0.5),
    Fault("root of d_in", "the scores are divided by the root of d_in, the size of what goes into the projections.",
        _ROOT, factor=lambda q, k, query: query.shape[-1] ** -0.5),
    Fault("root of L_k", "the scores are divided by the root of the number of keys.", _ROOT,
        factor=lambda q, k, query: k.shape[-2] ** -0.5),
    Fault("root of H", "the scores are divided by the root of the number of heads: an axis was mistaken.", _ROOT,
        factor=lambda q, k, query: q.shape[1] ** -0.5),
)  # fmt: skip

_KEYS = "normalize over the axis of the keys; sum your weights over each axis to see."

WEIGHING_FAULTS = (  # weigh(scores), scores (B, H, L_q, L_k)
    Fault("over the queries",
        "a softmax over the queries: your weights sum to 1 over the queries, they should over the keys.", _KEYS,
        weigh=lambda s: s.softmax(2)),
    Fault("over the heads",
        "a softmax over the heads: your weights sum to 1 over the heads, they should over the keys.", _KEYS,
        weigh=lambda s: s.softmax(1)),
    Fault("over queries and keys",
        "one softmax over queries and keys together: your weights sum to 1 over a whole table.", _KEYS,
        weigh=lambda s: s.flatten(2).softmax(2).view_as(s)),
    Fault("hard maximum", "a hard maximum: each query takes one key alone.",
        "use a softmax: every key that may be seen gets a share.",
        weigh=lambda s: torch.zeros_like(s).scatter(-1, s.argmax(-1, keepdim=True), 1.0)),
)  # fmt: skip


_UNFIT = re.compile(r"\(\d+x(\d+) and (\d+)x\1\)|has size (\d+) for operand 1 .* previously seen size (\d+)")


def untransposed(view: View) -> Told | None:
    """It stops where a matrix of shape (out, in) meets vectors of size ``in`` by its other side."""
    found = _UNFIT.search(view.cases[view.first].get("message", ""))
    if found is None:
        return None
    sizes = {int(size) for size in found.groups() if size}
    case = view.inputs[view.first]
    matrices = [
        m for m in [*case.values(), *case.get("params", {}).values()] if isinstance(m, torch.Tensor) and m.dim() == 2
    ]
    if not any(sizes <= set(matrix.shape) for matrix in matrices):
        return None
    said = "a projection by the matrix as it is: that fits only where both of its sizes are equal."
    advice = "the matrices have shape (out, in): x @ W.T, or einsum 'bli,oi->blo'."
    return Told("symptom", "matrix not transposed", said, advice)
