"""Answers that the first tables of lesson 04 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import torch
import torch.nn.functional as F
from torch import nn
from course_utils import attention
from . import Answers, Right, Wrong


def _attention(
    query,
    key,
    value,
    factor=None,
    turn=lambda k: k.transpose(-2, -1),
    weigh=lambda s: s.softmax(-1),
    after=lambda w, q: w,
    pool=lambda w, v, k, q: w @ v,
):
    """Attention with one step replaced; each keyword is one step."""
    scale = query.shape[-1] ** (-0.5) if factor is None else factor(query, key, value)
    weights = after(weigh(query @ turn(key) * scale), query)
    return (pool(weights, value, key, query), weights)


def _shared(powers):
    return powers / powers.sum(-1, keepdim=True)


def _hard(scores):
    return F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)


_STEPS = {
    "no scaling": (
        {"factor": lambda q, k, v: 1.0},
        "attention without scaling: the scores go into the softmax as they are.",
        "divide the scores by query.shape[-1] ** 0.5 before the softmax.",
    ),
    "divided by d_k": (
        {"factor": lambda q, k, v: 1 / q.shape[-1]},
        "the scores divided by d_k instead of its square root: your weights are too even.",
        "divide by query.shape[-1] ** 0.5, and only once.",
    ),
    "fourth root": (
        {"factor": lambda q, k, v: q.shape[-1] ** (-0.25)},
        "the scores divided by the fourth root of d_k: half of the scaling is missing.",
        "divide the scores by query.shape[-1] ** 0.5.",
    ),
    "multiplied": (
        {"factor": lambda q, k, v: q.shape[-1] ** 0.5},
        "the scores multiplied by the root of d_k: your weights are too sharp.",
        "divide instead of multiplying.",
    ),
    "root of L_k": (
        {"factor": lambda q, k, v: k.shape[-2] ** (-0.5)},
        "the scores divided by the root of L_k, the number of keys.",
        "the scale is the size of one key, query.shape[-1]; the number of keys plays no part.",
    ),
    "root of d_v": (
        {"factor": lambda q, k, v: v.shape[-1] ** (-0.5)},
        "the scores divided by the root of d_v, the size of a value; the values take no part in the scores.",
        "divide by query.shape[-1] ** 0.5.",
    ),
    "root cut to a whole number": (
        {"factor": lambda q, k, v: 1 / int(q.shape[-1] ** 0.5)},
        "the scores divided by the root of d_k rounded down to a whole number.",
        "keep the root as it is, query.shape[-1] ** 0.5, without int, isqrt or //.",
    ),
    "keys not transposed": (
        {"turn": lambda k: k},
        "the keys were not transposed: query @ key does not fit, or fits by chance.",
        "use key.transpose(-2, -1), so that both have d_k where they meet.",
    ),
    "all axes reversed": (
        {"turn": lambda k: k.permute(*reversed(range(k.dim())))},
        "key.T reverses all axes, the batch as well.",
        "exchange the last two only: key.transpose(-2, -1).",
    ),
    "keys reshaped": (
        {"turn": lambda k: k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])},
        "the keys were reshaped (view or reshape) to (..., d_k, L_k): the shape is right, the content scrambled.",
        "exchange the two axes with key.transpose(-2, -1).",
    ),
    "scaled after the softmax": (
        {"factor": lambda q, k, v: 1.0, "after": lambda w, q: w / q.shape[-1] ** 0.5},
        "the scale applied after the softmax: your rows no longer sum to 1, and the softmax saw unscaled scores.",
        "divide the scores, then take the softmax.",
    ),
    "scaled before and after": (
        {"after": lambda w, q: w / q.shape[-1] ** 0.5},
        "the weights were divided once more after the softmax: your rows no longer sum to 1.",
        "divide the scores only.",
    ),
    "over the queries": (
        {"weigh": lambda s: s.softmax(-2)},
        "a softmax over the queries (dim=-2): your columns sum to 1, your rows should.",
        "normalize over the keys, dim=-1.",
    ),
    "not normalized": (
        {"weigh": lambda s: s.exp()},
        "the exponentials of the scores, not divided by their sum: your rows do not sum to 1.",
        "use torch.softmax over dim=-1.",
    ),
    "no shift": (
        {"weigh": lambda s: _shared(s.exp())},
        "exponentials without a shift: exp(100) overflows, exp(-110) is 0, and the row becomes NaN.",
        "use torch.softmax, or subtract the largest score of each row first (lesson 02).",
    ),
    "shifted by the largest of all": (
        {"weigh": lambda s: _shared((s - s.max()).exp())},
        "one maximum was subtracted from all rows: a row that lies far below it becomes 0 / 0.",
        "subtract the largest score of each row, scores.amax(-1, keepdim=True), or use torch.softmax.",
    ),
    "causal": (
        {"weigh": lambda s: s.masked_fill(~torch.ones_like(s, dtype=torch.bool).tril(), -torch.inf).softmax(-1)},
        "a causal mask: your queries see no later key. No mask is asked for here.",
        "leave all scores in.",
    ),
    "no softmax": (
        {"weigh": lambda s: s},
        "the scaled scores themselves used as weights: the softmax is missing.",
        "take torch.softmax of the scores over dim=-1.",
    ),
    "hard argmax": (
        {"weigh": _hard},
        "a hard argmax: all the weight on the best key.",
        "use a softmax, which gives every key a share.",
    ),
    "keys pooled": (
        {"pool": lambda w, v, k, q: w @ k},
        "weights @ key: the keys are added up, where the values should be.",
        "keys decide the weights; what is added up are the values.",
    ),
    "weights transposed": (
        {"pool": lambda w, v, k, q: w.transpose(-2, -1) @ v},
        "the weights were transposed before they met the values.",
        "the keys are the last axis of the weights and the second to last of the values: weights @ value fits.",
    ),
}

_NAMED = {name: lambda q, k, v, step=step[0]: _attention(q, k, v, **step) for name, step in _STEPS.items()}

_NAMED["query and key swapped"] = lambda q, k, v: _attention(k, q, v)

_SWAPPED = (
    "query and key are swapped: row i of your scores belongs to key i.",
    "the query stands on the left, query @ key.transpose(-2, -1): rows are queries, columns are keys.",
)


def _step_mistakes(answer_with, skip=()):
    """The shared mistakes for an exercise. ``answer_with(attend)``: its answer with ``attend(q, k, v)`` in the middle."""
    told = {name: step[1:] for name, step in _STEPS.items()} | {"query and key swapped": _SWAPPED}
    return tuple((Wrong(name, answer_with(_NAMED[name])) for name in _NAMED if name not in skip))


def _returned(right):
    """Mistakes in what is handed back, for an exercise whose right answer is ``right(*arguments)``."""
    return (
        Wrong("output alone", lambda *given: right(*given)[0]),
        Wrong("weights first", lambda *given: right(*given)[::-1]),
    )


def _loop_attention(query, key, value):
    """One dot product at a time, softmax by hand."""
    shape = (*query.shape[:-1], key.shape[-2])
    q, k, v = (t.reshape(-1, *t.shape[-2:]) for t in (query, key, value))
    items = []
    for b in range(len(q)):
        rows = [torch.stack([(row * col).sum() for col in k[b]]) / q.shape[-1] ** 0.5 for row in q[b]]
        items.append(torch.stack([_shared((row - row.max()).exp()) for row in rows]))
    weights = torch.stack(items)
    return (torch.stack([w @ x for w, x in zip(weights, v, strict=True)]).view(*shape[:-1], -1), weights.view(shape))


def _einsum_attention(query, key, value):
    scores = torch.einsum("...id,...jd->...ij", query, key) / query.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    return (torch.einsum("...ij,...jv->...iv", weights, value), weights)


def _in_double(query, key, value):
    return tuple((part.to(query.dtype) for part in _attention(query.double(), key.double(), value.double())))


def _broadcast_attention(query, key, value):
    weights = ((query[..., :, None, :] * key[..., None, :, :]).sum(-1) / query.shape[-1] ** 0.5).softmax(-1)
    return ((weights[..., None] * value[..., None, :, :]).sum(-2), weights)


def _attention_by_fused(query, key, value):
    weights = (query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5).softmax(-1)
    return (F.scaled_dot_product_attention(query, key, value), weights)


def _course(query, key, value):
    return attention.scaled_dot_product_attention(query, key, value)


def _right_ways(answer_with, ready_made_is_off_limits=False):
    """Other right answers, for an exercise whose answer is ``answer_with(attend)``."""
    return (
        Right("plain", answer_with(_attention)),
        Right("loops", answer_with(_loop_attention)),
        Right("einsum", answer_with(_einsum_attention)),
        Right("query scaled first", answer_with(lambda q, k, v: _attention(q / q.shape[-1] ** 0.5, k, v, _one))),
        Right(
            "both by the fourth root",
            answer_with(lambda q, k, v: _attention(q / q.shape[-1] ** 0.25, k / k.shape[-1] ** 0.25, v, _one)),
        ),
        Right(
            "logarithm of the sum",
            answer_with(lambda q, k, v: _attention(q, k, v, weigh=lambda s: (s - s.logsumexp(-1, keepdim=True)).exp())),
        ),
        Right("double precision inside", answer_with(_in_double)),
        Right("products broadcast", answer_with(_broadcast_attention)),
        Right("masked_softmax", answer_with(lambda q, k, v: _attention(q, k, v, weigh=attention.masked_softmax))),
        Right("PyTorch's own", answer_with(_attention_by_fused), ready_made_is_off_limits),
        Right("the course's own", answer_with(_course), ready_made_is_off_limits),
    )


def _one(query, key, value):
    return 1.0


def _by_d_model(query, key, value):
    """With heads in the second axis, the scale of all heads together: the root of d_model."""
    heads = query.shape[1] if query.dim() == 4 else 1
    return _attention(query, key, value, lambda q, k, v: (heads * q.shape[-1]) ** (-0.5))


def _fixed_axes(query, key, value):
    scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
    return (scores.softmax(-1) @ value, scores.softmax(-1))


def _flat_softmax(scores):
    return scores.flatten(-2).softmax(-1).view(scores.shape)


ATTENTION = Answers(
    number="4.1",
    alternatives=(
        *_right_ways(lambda attend: lambda query, key, value: attend(query, key, value), True),
        Right("cosines undone", lambda q, k, v: _cosine_attention(q, k, v, True)),
    ),
    mistakes=(
        *_step_mistakes(lambda attend: lambda query, key, value: attend(query, key, value)),
        Wrong("root of d_model with heads", _by_d_model),
        Wrong("root of L_q", lambda q, k, v: _attention(q, k, v, lambda q, k, v: q.shape[-2] ** (-0.5))),
        Wrong("root of shape[1]", lambda q, k, v: _attention(q, k, v, lambda q, k, v: q.shape[1] ** (-0.5))),
        Wrong("axes 1 and 2", _fixed_axes),
        Wrong("softmax over dim 1", lambda q, k, v: _attention(q, k, v, weigh=lambda s: s.softmax(1))),
        Wrong("softmax over dim 2", lambda q, k, v: _attention(q, k, v, weigh=lambda s: s.softmax(2))),
        Wrong("over everything", lambda q, k, v: _attention(q, k, v, weigh=_flat_softmax)),
        Wrong("cosine", lambda q, k, v: _cosine_attention(q, k, v, False)),
        Wrong(
            "scores handed back", lambda q, k, v: (_course(q, k, v)[0], q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5)
        ),
        *_returned(_course),
    ),
)


def _cosine_attention(query, key, value, restore):
    lengths = query.norm(dim=-1, keepdim=True) * key.norm(dim=-1)[..., None, :]
    cosines = F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)
    scores = cosines * lengths / query.shape[-1] ** 0.5 if restore else cosines
    return (scores.softmax(-1) @ value, scores.softmax(-1))


def _cross(attend):
    return lambda x, memory, W_q, W_k, W_v: attend(x @ W_q, memory @ W_k, memory @ W_v)


def _joined(x, memory, W_q, W_k, W_v):
    both = torch.cat([x, memory], dim=1)
    return _attention(x @ W_q, both @ W_k, both @ W_v)


CROSS = Answers(
    number="4.2",
    alternatives=(
        *_right_ways(_cross),
        Right(
            "F.linear",
            lambda x, m, W_q, W_k, W_v: _attention(F.linear(x, W_q.T), F.linear(m, W_k.T), F.linear(m, W_v.T)),
        ),
        Right(
            "keys and values fused",
            lambda x, m, W_q, W_k, W_v: _attention(
                x @ W_q, *(m @ torch.cat([W_k, W_v], 1)).split([W_k.shape[1], W_v.shape[1]], -1)
            ),
        ),
    ),
    mistakes=(
        *_step_mistakes(_cross, skip=("keys pooled",)),
        *_returned(_cross(_course)),
        Wrong(
            "root of the size of x",
            lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m @ W_k, m @ W_v, lambda q, k, v: x.shape[-1] ** (-0.5)),
        ),
        Wrong(
            "root of the size of memory",
            lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m @ W_k, m @ W_v, lambda q, k, v: m.shape[-1] ** (-0.5)),
        ),
        Wrong("values by the key projection", lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m @ W_k, m @ W_k)),
        Wrong("values not projected", lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m @ W_k, m)),
        Wrong("self-attention on x", lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, x @ W_k, x @ W_v)),
        Wrong("self-attention on the memory", lambda x, m, W_q, W_k, W_v: _attention(m @ W_q, m @ W_k, m @ W_v)),
        Wrong("x and memory exchanged", lambda x, m, W_q, W_k, W_v: _attention(m @ W_q, x @ W_k, x @ W_v)),
        Wrong("values from x", lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m @ W_k, x @ W_v)),
        Wrong("keys from x", lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, x @ W_k, m @ W_v)),
        Wrong("memory of the first item", lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m[:1] @ W_k, m[:1] @ W_v)),
        Wrong(
            "memory cut",
            lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m[:, : x.shape[1]] @ W_k, m[:, : x.shape[1]] @ W_v),
        ),
        Wrong("joined", _joined),
    ),
)


EXERCISES = (ATTENTION, CROSS)
