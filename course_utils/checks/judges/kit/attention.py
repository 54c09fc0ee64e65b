"""Attention made of steps, and what goes wrong in each: shared by the exercises that write or use it."""

import torch
import torch.nn.functional as F

from ..exercise import Fault
from .parts import faults_of

LARGE = "the scores are large"


def attend(
    query, key, value, *, given=(), meet=lambda q, k: q @ k.transpose(-2, -1), factor=lambda q, *_: q.shape[-1] ** -0.5,
    weigh=lambda scores: scores.softmax(-1), after=lambda weights, q: weights, pool=lambda weights, k, v: weights @ v,
    shown=lambda weights, scores: weights,
):  # fmt: skip
    """Scaled dot-product attention (Vaswani et al. 2017, equation 1); each keyword but the first is one step.

    Args:
        query: ``(..., L_q, d_k)``.
        key: ``(..., L_k, d_k)``.
        value: ``(..., L_k, d_v)``.
        given: What query, key and value were made of; ``factor`` gets it as well.

    Returns:
        output: ``(..., L_q, d_v)``.
        weights: ``(..., L_q, L_k)``.
    """
    scores = meet(query, key) * factor(query, key, value, *given)
    weights = after(weigh(scores), query)
    return pool(weights, key, value), shown(weights, scores)


def shared(powers):
    """Each row divided by its sum."""
    return powers / powers.sum(-1, keepdim=True)


def eighths(*shape, rng):
    """Multiples of 1/8, so that all ways to add up their products agree to the last bit."""
    return (8 * torch.randn(shape, generator=rng)).round() / 8


def large_scores(rng):
    """Query and key: scores far above 100 in one row, far below -100 in the next; within a row of ordinary size."""
    query, key = eighths(2, 3, 16, rng=rng), eighths(2, 5, 16, rng=rng)
    query[..., 0] = torch.tensor([16.0, 0.0, -16.0])
    key[..., 0] = 32.0
    return query, key


def _hidden(scores, seen):
    return scores.masked_fill(~seen, -torch.inf).softmax(-1)


_ROOT = "divide the scores by query.shape[-1] ** 0.5, once, before the softmax."

FACTOR_FAULTS = faults_of("factor", _ROOT,
    ("no scaling", "the scores go into the softmax unscaled.", lambda *_: 1.0),
    ("divided by d_k", "the scores are divided by d_k (or twice by its root), not by its root: the weights are too even.",
     lambda q, *_: 1 / q.shape[-1]),
    ("fourth root", "the scores are divided by the fourth root of d_k: half of the scaling is missing.",
     lambda q, *_: q.shape[-1] ** -0.25),
    ("multiplied", "the scores are multiplied by the root of d_k: the weights are too sharp.",
     lambda q, *_: q.shape[-1] ** 0.5, "divide instead."),
    ("root of L_k", "the scores are divided by the root of L_k, the number of keys.", lambda q, k, *_: k.shape[-2] ** -0.5,
     "the scale is the size of one key, query.shape[-1]; the number of keys plays no part."),
    ("root of L_q", "the scores are divided by the root of L_q, the number of queries.", lambda q, *_: q.shape[-2] ** -0.5),
    ("root of shape[1]", "the scores are divided by the root of query.shape[1], a length or a number of heads.",
     lambda q, *_: q.shape[1] ** -0.5, "count from the end: query.shape[-1]."),
    ("root of d_v", "the scores are divided by the root of d_v, the size of a value, which has no part in them.",
     lambda q, k, v, *_: v.shape[-1] ** -0.5),
    ("root cut to a whole number", "the scores are divided by the root of d_k cut to a whole number.",
     lambda q, *_: 1 / int(q.shape[-1] ** 0.5), "keep the root as it is, query.shape[-1] ** 0.5, without int, isqrt or //."),
)  # fmt: skip

MEETING_FAULTS = faults_of("meet", "exchange the last two axes alone: key.transpose(-2, -1).",
    ("keys not transposed", "the keys were not transposed: query @ key does not fit, or fits by chance.",
     lambda q, k: q @ k, "use key.transpose(-2, -1), so that both have d_k where they meet."),
    ("all axes reversed", "key.T reverses all axes, the batch as well.",
     lambda q, k: q @ k.permute(*reversed(range(k.dim())))),
    ("keys reshaped", "the keys were reshaped (view or reshape) to (..., d_k, L_k): right shape, scrambled content.",
     lambda q, k: q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])),
    ("axes 1 and 2", "key.transpose(1, 2): right with one leading axis, but with two the keys' axis is another.",
     lambda q, k: q @ k.transpose(1, 2), "count from the end: key.transpose(-2, -1)."),
    ("query and key swapped", "query and key are exchanged: row i of your scores belongs to key i.",
     lambda q, k: k @ q.mT, "query @ key.transpose(-2, -1): rows are queries, columns are keys."),
    ("cosine", "the scores are cosines: the lengths of query and key were divided out.",
     lambda q, k: F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT, "leave the vectors as they are."),
)  # fmt: skip

WEIGHING_FAULTS = (
    Fault("over the queries", "a softmax over the queries (dim=-2): your columns sum to 1, your rows should.",
          "normalize over the keys, dim=-1.", weigh=lambda s: s.softmax(-2)),
    Fault("softmax over dim 1", "a softmax over dim=1, which is not the keys' axis.", "count from the end: dim=-1.",
          weigh=lambda s: s.softmax(1)),
    Fault("softmax over dim 2", "a softmax over dim=2: the keys with one leading axis, but the queries with two.",
          "count from the end: dim=-1.", weigh=lambda s: s.softmax(2)),
    Fault("over everything",
          "a softmax over queries and keys together: all weights of an item sum to 1, each row should.",
          "normalize over the keys alone, dim=-1.", weigh=lambda s: s.flatten(-2).softmax(-1).view(s.shape)),
    Fault("not normalized", "the exponentials of the scores, not divided by their sum.",
          "use torch.softmax over dim=-1.", weigh=lambda s: s.exp()),
    Fault("no shift", "exponentials without a shift: exp(100) overflows, exp(-110) is 0, and the row becomes NaN.",
          "use torch.softmax, or subtract the largest score of each row first (lesson 02).",
          weigh=lambda s: shared(s.exp())),
    Fault("shifted by the largest of all", "one maximum is subtracted from all rows: a row far below it becomes 0 / 0.",
          "subtract the largest score of each row, scores.amax(-1, keepdim=True), or use torch.softmax.",
          weigh=lambda s: shared((s - s.max()).exp())),
    Fault("causal", "a causal mask: your queries see no later key. No mask is asked for here.", "leave all scores in.",
          weigh=lambda s: _hidden(s, torch.ones_like(s, dtype=torch.bool).tril())),
    Fault("no softmax", "the scaled scores themselves are used as weights: the softmax is missing.",
          "take torch.softmax of the scores over dim=-1.", weigh=lambda s: s),
    Fault("hard argmax", "a hard argmax: all the weight on the best key.", "use a softmax: every key gets a share.",
          weigh=lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype)),
)  # fmt: skip

POOLING_FAULTS = (
    Fault("divided after the softmax", "the weights were divided once more, after the softmax: rows do not sum to 1.",
          "divide the scores only, before the softmax.", after=lambda w, q: w / q.shape[-1] ** 0.5),
    Fault("keys pooled", "weights @ key: the keys are added up, where the values should be.",
          "keys decide the weights; what is added up are the values.", pool=lambda w, k, v: w @ k),
    Fault("weights transposed", "the weights were transposed before they met the values.",
          "the keys are the last axis of the weights and the second to last of the values: weights @ value fits.",
          pool=lambda w, k, v: w.transpose(-2, -1) @ v),
)  # fmt: skip

ATTENTION_FAULTS = (*FACTOR_FAULTS, *MEETING_FAULTS, *WEIGHING_FAULTS, *POOLING_FAULTS)

_NOT_IN_THREE_AXES = (
    "root of L_q", "root of shape[1]", "axes 1 and 2", "softmax over dim 1", "softmax over dim 2", "cosine", "keys pooled",
)  # fmt: skip
# For (B, L, d) tensors and attention that the student may call ready made: without what is right there, or told otherwise.
FACTOR_FAULTS_OF_THREE_AXES = tuple(fault for fault in FACTOR_FAULTS if fault.name not in _NOT_IN_THREE_AXES)
OTHER_FAULTS_OF_THREE_AXES = (
    *(f for f in (*WEIGHING_FAULTS, *MEETING_FAULTS, *POOLING_FAULTS) if f.name not in _NOT_IN_THREE_AXES),
    Fault("over the batch", "a softmax over the batch (dim=0): the items of the batch share the weight among them.",
          "normalize over the keys, dim=-1.", weigh=lambda s: s.softmax(0)),
)  # fmt: skip
