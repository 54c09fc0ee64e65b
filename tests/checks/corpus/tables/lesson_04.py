"""Answers that the first tables of lesson 04 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import torch
import torch.nn.functional as F
from torch import nn
from course_utils import attention
from . import Answers, Right, Wrong


def _rows(query, key):
    return (query * key).sum(-1)


def _spread(scores=_rows, unscaled=torch.std, scaled=None, factor=lambda query: query.shape[-1] ** (-0.5)):
    """An answer: ``unscaled(scores)``, and the same of the scores times the factor."""

    def answer(query, key):
        found = scores(query, key)
        return (unscaled(found), (scaled or unscaled)(found * factor(query)))

    return answer


def _spread_loop(query, key):
    dots = [sum((a * b for a, b in zip(q, k, strict=True))) for q, k in zip(query.tolist(), key.tolist(), strict=True)]
    mean = sum(dots) / len(dots)
    spread = (sum(((x - mean) ** 2 for x in dots)) / (len(dots) - 1)) ** 0.5
    return (spread, spread / len(query[0]) ** 0.5)


SPREAD = Answers(
    number="4.1",
    alternatives=(
        Right("loop over numbers", _spread_loop),
        Right("einsum", _spread(lambda query, key: torch.einsum("nd,nd->n", query, key))),
        Right("python numbers", lambda query, key: tuple((x.item() for x in _spread()(query, key)))),
        Right("batch of one-by-one products", _spread(lambda q, k: torch.bmm(q[:, None], k[:, :, None]))),
        Right("divided by n", _spread(unscaled=lambda s: s.std(correction=0))),
        Right("root of the variance", _spread(unscaled=lambda s: s.var() ** 0.5)),
        Right("diagonal of all pairs", _spread(lambda query, key: (query @ key.T).diagonal())),
        Right("query scaled first", lambda q, k: (_rows(q, k).std(), _rows(q / q.shape[-1] ** 0.5, k).std())),
        Right("scaled afterwards", lambda q, k: (_rows(q, k).std(), _rows(q, k).std() / q.shape[-1] ** 0.5)),
    ),
    mistakes=(
        Wrong("divided by d_k", _spread(factor=lambda query: 1 / query.shape[-1])),
        Wrong("divided by the root of n", _spread(factor=lambda query: query.shape[0] ** (-0.5))),
        Wrong("root cut to a whole number", _spread(factor=lambda query: 1 / int(query.shape[-1] ** 0.5))),
        Wrong("divided by the fourth root", _spread(factor=lambda query: query.shape[-1] ** (-0.25))),
        Wrong(
            "spread of the cosines", lambda query, key: (_rows(query, key).std(), F.cosine_similarity(query, key).std())
        ),
        Wrong(
            "second number from the variance",
            lambda query, key: (_rows(query, key).std(), _rows(query, key).var() / query.shape[-1]),
        ),
        Wrong("multiplied", _spread(factor=lambda query: query.shape[-1] ** 0.5)),
        Wrong("variance", _spread(unscaled=torch.var)),
        Wrong("products not added", _spread(lambda query, key: query * key)),
        Wrong("added over the rows", _spread(lambda query, key: (query * key).sum(0))),
        Wrong("mean of the products", _spread(lambda query, key: (query * key).mean(-1))),
        Wrong("all pairs", _spread(lambda query, key: query @ key.T)),
        Wrong("typical size", _spread(unscaled=lambda s: s.square().mean().sqrt())),
        Wrong("mean of the absolute values", _spread(unscaled=lambda s: s.abs().mean())),
        Wrong("theory", lambda query, key: (query.shape[-1] ** 0.5, 1.0)),
        Wrong(
            "divided by their own spread",
            lambda query, key: (_rows(query, key).std(), _rows(query, key).std() / _rows(query, key).std()),
        ),
        Wrong("scaled first", lambda query, key: _spread()(query, key)[::-1]),
        Wrong("not scaled", _spread(factor=lambda query: 1.0)),
    ),
)


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
    number="4.2",
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


def _self(attend):
    return lambda x, W_q, W_k, W_v: attend(x @ W_q, x @ W_k, x @ W_v)


def _across_batch(x, W_q, W_k, W_v):
    rows = x.flatten(0, 1)
    output, weights = _attention(rows @ W_q, rows @ W_k, rows @ W_v)
    return (output.view(*x.shape[:2], -1), weights.view(*x.shape[:2], -1))


SELF_ATTENTION = Answers(
    number="4.3",
    alternatives=(
        *_right_ways(_self),
        Right(
            "F.linear", lambda x, W_q, W_k, W_v: _attention(F.linear(x, W_q.T), F.linear(x, W_k.T), F.linear(x, W_v.T))
        ),
        Right(
            "one matrix for the scores",
            lambda x, W_q, W_k, W_v: _by_scores(x @ (W_q @ W_k.T) @ x.mT / W_q.shape[1] ** 0.5, x @ W_v),
        ),
        Right("values projected last", lambda x, W_q, W_k, W_v: _values_last(x, W_q, W_k, W_v)),
        Right("fused", lambda x, W_q, W_k, W_v: _fused_self(x, W_q, W_k, W_v)),
    ),
    mistakes=(
        *_step_mistakes(_self, skip=("keys pooled",)),
        *_returned(_self(_course)),
        Wrong(
            "root of d_model",
            lambda x, W_q, W_k, W_v: _attention(x @ W_q, x @ W_k, x @ W_v, lambda q, k, v: x.shape[-1] ** (-0.5)),
        ),
        Wrong("values by the key projection", lambda x, W_q, W_k, W_v: _attention(x @ W_q, x @ W_k, x @ W_k)),
        Wrong("values by the query projection", lambda x, W_q, W_k, W_v: _attention(x @ W_q, x @ W_k, x @ W_q)),
        Wrong("values not projected", lambda x, W_q, W_k, W_v: _attention(x @ W_q, x @ W_k, x)),
        Wrong("nothing projected", lambda x, W_q, W_k, W_v: _attention(x, x, x)),
        Wrong("keys by the query projection", lambda x, W_q, W_k, W_v: _attention(x @ W_q, x @ W_q, x @ W_v)),
        Wrong("queries by the key projection", lambda x, W_q, W_k, W_v: _attention(x @ W_k, x @ W_k, x @ W_v)),
        Wrong("matrices transposed", lambda x, W_q, W_k, W_v: _attention(x @ W_q.T, x @ W_k.T, x @ W_v.T)),
        Wrong("across the batch", _across_batch),
        Wrong("input added", lambda x, W_q, W_k, W_v: _input_added(x, *_self(_attention)(x, W_q, W_k, W_v))),
    ),
)


def _by_scores(scores, value):
    return (scores.softmax(-1) @ value, scores.softmax(-1))


def _values_last(x, W_q, W_k, W_v):
    weights = _attention(x @ W_q, x @ W_k, x)[1]
    return (weights @ x @ W_v, weights)


def _fused_self(x, W_q, W_k, W_v):
    sizes = [W.shape[1] for W in (W_q, W_k, W_v)]
    return _attention(*(x @ torch.cat([W_q, W_k, W_v], dim=1)).split(sizes, dim=-1))


def _input_added(x, output, weights):
    return (output + x, weights)


def _thirds(W, order=(0, 1, 2)):
    d = W.shape[0]
    return [W[:, i * d : (i + 1) * d] for i in order]


def _fused(x, W_qkv):
    return tuple((x @ W_qkv).chunk(3, dim=-1))


FUSED = Answers(
    number="4.4",
    alternatives=(
        Right("chunk", lambda x, W_qkv: (x @ W_qkv).chunk(3, dim=-1)),
        Right("split by size", lambda x, W_qkv: (x @ W_qkv).split(x.shape[-1], dim=-1)),
        Right("slices", lambda x, W_qkv: tuple((_thirds_of(x @ W_qkv, i) for i in range(3)))),
        Right("view and unbind", lambda x, W_qkv: (x @ W_qkv).view(*x.shape[:2], 3, -1).unbind(2)),
        Right("view and permute", lambda x, W_qkv: tuple((x @ W_qkv).view(*x.shape[:2], 3, -1).permute(2, 0, 1, 3))),
        Right("F.linear", lambda x, W_qkv: F.linear(x, W_qkv.T).chunk(3, dim=-1)),
        Right("tensor_split", lambda x, W_qkv: torch.tensor_split(x @ W_qkv, 3, dim=-1)),
        Right("matrix split first", lambda x, W_qkv: [x @ W for W in W_qkv.chunk(3, dim=1)]),
        Right("einsum", lambda x, W_qkv: torch.einsum("bld,dne->nble", x, W_qkv.view(x.shape[-1], 3, -1)).unbind(0)),
    ),
    mistakes=(
        Wrong("key, query, value", lambda x, W_qkv: tuple((x @ W for W in _thirds(W_qkv, (1, 0, 2))))),
        Wrong("value, key, query", lambda x, W_qkv: tuple((x @ W for W in _thirds(W_qkv, (2, 1, 0))))),
        Wrong("key, value, query", lambda x, W_qkv: tuple((x @ W for W in _thirds(W_qkv, (1, 2, 0))))),
        Wrong("query, value, key", lambda x, W_qkv: tuple((x @ W for W in _thirds(W_qkv, (0, 2, 1))))),
        Wrong("value, query, key", lambda x, W_qkv: tuple((x @ W for W in _thirds(W_qkv, (2, 0, 1))))),
        Wrong("key twice", lambda x, W_qkv: tuple((x @ W for W in _thirds(W_qkv, (0, 1, 1))))),
        Wrong("interleaved", lambda x, W_qkv: (x @ W_qkv).view(*x.shape[:2], -1, 3).unbind(-1)),
        Wrong("matrix reshaped", lambda x, W_qkv: tuple((x @ W for W in W_qkv.reshape(3, x.shape[-1], x.shape[-1])))),
        Wrong("product reshaped", lambda x, W_qkv: tuple((x @ W_qkv).reshape(3, *x.shape))),
        Wrong(
            "product of each item reshaped", lambda x, W_qkv: (x @ W_qkv).reshape(x.shape[0], 3, *x.shape[1:]).unbind(1)
        ),
        Wrong("cut along the length", lambda x, W_qkv: _unpacked((x @ W_qkv).chunk(3, dim=1))),
        Wrong("cut along the batch", lambda x, W_qkv: _unpacked((x @ W_qkv).chunk(3))),
        Wrong("parts of size 3", lambda x, W_qkv: _unpacked((x @ W_qkv).split(3, dim=-1))),
        Wrong("not split", lambda x, W_qkv: x @ W_qkv),
        Wrong("stacked", lambda x, W_qkv: torch.stack(_fused(x, W_qkv))),
        Wrong(
            "query scaled", lambda x, W_qkv: (x @ W_qkv[:, : x.shape[-1]] / x.shape[-1] ** 0.5, *_fused(x, W_qkv)[1:])
        ),
        Wrong("matrix alone split", lambda x, W_qkv: tuple(_thirds(W_qkv))),
    ),
)


def _unpacked(parts):
    query, key, value = parts
    return (query, key, value)


def _thirds_of(product, i):
    d = product.shape[-1] // 3
    return product[..., i * d : (i + 1) * d]


def _cross(attend):
    return lambda x, memory, W_q, W_k, W_v: attend(x @ W_q, memory @ W_k, memory @ W_v)


def _joined(x, memory, W_q, W_k, W_v):
    both = torch.cat([x, memory], dim=1)
    return _attention(x @ W_q, both @ W_k, both @ W_v)


CROSS = Answers(
    number="4.5",
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


class _Layer(nn.Module):
    """Self-attention with the constructor that the exercise gives."""

    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj, self.k_proj = (nn.Linear(d_model, d_k), nn.Linear(d_model, d_k))
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        return F.scaled_dot_product_attention(self.q_proj(x), self.k_proj(x), self.v_proj(x))


def _layer(forward):
    """A class whose forward is the output of ``forward(self, x)``."""
    return type("SelfAttention", (_Layer,), {"forward": lambda self, x: forward(self, x)[0]})


def _layer_with(attend):
    return _layer(lambda self, x: attend(self.q_proj(x), self.k_proj(x), self.v_proj(x)))


def _layer_with_weights(self, x):
    return _attention(self.q_proj(x), self.k_proj(x), self.v_proj(x))


def _layer_fused(self, x):
    layers = (self.q_proj, self.k_proj, self.v_proj)
    weight, bias = (torch.cat([layer.weight for layer in layers]), torch.cat([layer.bias for layer in layers]))
    return _attention(*F.linear(x, weight, bias).split([layer.out_features for layer in layers], dim=-1))


BUG = Answers(
    number="4.6",
    alternatives=(
        Right("as given", _Layer),
        Right("attention of 4.2", _layer_with(_attention)),
        Right("einsum", _layer_with(_einsum_attention)),
        Right("fused", _layer(_layer_fused)),
        Right(
            "weights and biases by hand",
            _layer(
                lambda self, x: _attention(*(x @ p.weight.T + p.bias for p in (self.q_proj, self.k_proj, self.v_proj)))
            ),
        ),
    ),
    mistakes=(
        Wrong(
            "still the key projection",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), self.k_proj(x))),
        ),
        Wrong(
            "values by the query projection",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), self.q_proj(x))),
        ),
        Wrong("values not projected", _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), x))),
        Wrong(
            "keys and values exchanged",
            _layer(lambda self, x: _attention(self.q_proj(x), self.v_proj(x), self.k_proj(x))),
        ),
        Wrong(
            "keys by the value projection",
            _layer(lambda self, x: _attention(self.q_proj(x), self.v_proj(x), self.v_proj(x))),
        ),
        Wrong(
            "values projected twice",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), self.v_proj(self.k_proj(x)))),
        ),
        Wrong(
            "both added",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), self.v_proj(x) + self.k_proj(x))),
        ),
        Wrong(
            "values detached",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), self.v_proj(x).detach())),
        ),
        Wrong(
            "nothing learns",
            _layer(
                lambda self, x: [part.detach() for part in _attention(self.q_proj(x), self.k_proj(x), self.v_proj(x))]
            ),
        ),
        Wrong(
            "queries and keys detached",
            _layer(lambda self, x: _attention(self.q_proj(x).detach(), self.k_proj(x).detach(), self.v_proj(x))),
        ),
        Wrong(
            "queries detached",
            _layer(lambda self, x: _attention(self.q_proj(x).detach(), self.k_proj(x), self.v_proj(x))),
        ),
        Wrong(
            "keys detached", _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x).detach(), self.v_proj(x)))
        ),
        Wrong(
            "without its bias",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), F.linear(x, self.v_proj.weight))),
        ),
        Wrong(
            "root of d_model",
            _layer(
                lambda self, x: _attention(
                    self.q_proj(x), self.k_proj(x), self.v_proj(x), lambda q, k, v: x.shape[-1] ** (-0.5)
                )
            ),
        ),
        Wrong("weights handed back too", type("SelfAttention", (_Layer,), {"forward": _layer_with_weights})),
        *_step_mistakes(_layer_with, skip=("keys pooled", "no shift", "shifted by the largest of all")),
    ),
)

EXERCISES = (
    SPREAD,
    ATTENTION,
    SELF_ATTENTION,
    FUSED,
    CROSS,
    BUG,
)
