"""Lesson 04, scaled dot-product attention: what is right, what is wrong, and how it is told."""

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import attention, similarity

from .exercise import Alternative, Exercise, Mistake, Option, Quiz

READY_MADE = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
    "torch.ops.aten.scaled_dot_product_attention",
    "course_utils.attention.scaled_dot_product_attention",
    "course_utils.multi_head.MultiHeadAttention",
)

# 4.1 ------------------------------------------------------------------------------------------------------------------


def _spread_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for n, d_k, size, offset in ((600, 4, 1.0, 0.0), (700, 64, 1.0, 0.0), (650, 7, 2.0, 0.0), (800, 24, 1.0, 0.5)):
        query = size * torch.randn(n, d_k, generator=rng) + offset
        cases.append({"query": query, "key": torch.randn(n, d_k, generator=rng) + offset})
    return cases


def _rows(query, key):
    return (query * key).sum(-1)


def _spread(scores=_rows, unscaled=torch.std, scaled=None, factor=lambda query: query.shape[-1] ** -0.5):
    """An answer: ``unscaled(scores)``, and the same of the scores times the factor."""

    def answer(query, key):
        found = scores(query, key)
        return unscaled(found), (scaled or unscaled)(found * factor(query))

    return answer


def _spread_loop(query, key):
    dots = [sum(a * b for a, b in zip(q, k, strict=True)) for q, k in zip(query.tolist(), key.tolist(), strict=True)]
    mean = sum(dots) / len(dots)
    spread = (sum((x - mean) ** 2 for x in dots) / (len(dots) - 1)) ** 0.5
    return spread, spread / len(query[0]) ** 0.5


SPREAD = Exercise(
    number="4.1",
    title="Measure what the scale does",
    points=2,
    inputs=_spread_inputs,
    reference=lambda query, key: _spread(similarity.dot_product)(query, key),
    returns=("unscaled", "scaled"),
    rtol=2e-3,  # accepts n for n - 1: with 600 rows that is less than 0.1 %
    alternatives=(
        Alternative("loop over numbers", _spread_loop),
        Alternative("einsum", _spread(lambda query, key: torch.einsum("nd,nd->n", query, key))),
        Alternative("python numbers", lambda query, key: tuple(x.item() for x in _spread()(query, key))),
        Alternative("batch of one-by-one products", _spread(lambda q, k: torch.bmm(q[:, None], k[:, :, None]))),
        Alternative("divided by n", _spread(unscaled=lambda s: s.std(correction=0))),
        Alternative("root of the variance", _spread(unscaled=lambda s: s.var() ** 0.5)),
        Alternative("diagonal of all pairs", _spread(lambda query, key: (query @ key.T).diagonal())),
        Alternative("query scaled first", lambda q, k: (_rows(q, k).std(), _rows(q / q.shape[-1] ** 0.5, k).std())),
        Alternative("scaled afterwards", lambda q, k: (_rows(q, k).std(), _rows(q, k).std() / q.shape[-1] ** 0.5)),
    ),
    mistakes=(
        Mistake(
            "divided by d_k",
            _spread(factor=lambda query: 1 / query.shape[-1]),
            "the scores divided by d_k instead of its square root: for wide vectors they become too small.",
            "divide by query.shape[-1] ** 0.5.",
        ),
        Mistake(
            "divided by the root of n",
            _spread(factor=lambda query: query.shape[0] ** -0.5),
            "the scores divided by the root of n, the number of rows.",
            "the scale is the size of one vector, query.shape[-1].",
        ),
        Mistake(
            "root cut to a whole number",
            _spread(factor=lambda query: 1 / int(query.shape[-1] ** 0.5)),
            "the scores divided by the root of d_k rounded down to a whole number.",
            "keep the root as it is, query.shape[-1] ** 0.5, without int, isqrt or //.",
        ),
        Mistake(
            "divided by the fourth root",
            _spread(factor=lambda query: query.shape[-1] ** -0.25),
            "the scores divided by the fourth root of d_k: half of the scaling is missing.",
            "divide by query.shape[-1] ** 0.5.",
        ),
        Mistake(
            "spread of the cosines",
            lambda query, key: (_rows(query, key).std(), F.cosine_similarity(query, key).std()),
            "the second number is the spread of the cosines: each pair was divided by its own two lengths.",
            "divide every score by the same number, the root of d_k.",
        ),
        Mistake(
            "second number from the variance",
            lambda query, key: (_rows(query, key).std(), _rows(query, key).var() / query.shape[-1]),
            "the second number is a variance: the standard deviation divided by the root of d_k was squared.",
            "divide the scores by query.shape[-1] ** 0.5, then take .std().",
        ),
        Mistake(
            "multiplied",
            _spread(factor=lambda query: query.shape[-1] ** 0.5),
            "the scores multiplied by the root of d_k: scaling was to make them smaller.",
            "divide the scores.",
        ),
        Mistake(
            "variance",
            _spread(unscaled=torch.var),
            "the variances. The standard deviation is the square root of the variance.",
            "use .std() instead of .var().",
        ),
        Mistake(
            "products not added",
            _spread(lambda query, key: query * key),
            "the spread of the single products q_i k_i: they were not added up to dot products.",
            "sum over the last axis before you take the standard deviation.",
        ),
        Mistake(
            "added over the rows",
            _spread(lambda query, key: (query * key).sum(0)),
            "the products were added over the rows (dim=0): that mixes different pairs.",
            "sum over dim=-1, so that n numbers remain.",
        ),
        Mistake(
            "mean of the products",
            _spread(lambda query, key: (query * key).mean(-1)),
            "the mean of the products where their sum was wanted: a division by d_k has already happened.",
            "use .sum(dim=-1) for the dot product.",
        ),
        Mistake(
            "all pairs",
            _spread(lambda query, key: query @ key.T),
            "the spread over all n times n pairs; row i of the queries belongs to row i of the keys only.",
            "multiply entry by entry, then sum over the last axis.",
        ),
        Mistake(
            "typical size",
            _spread(unscaled=lambda s: s.square().mean().sqrt()),
            "the root of the mean square. It is the standard deviation only if the mean is 0, which you may not assume.",
            "use .std(), which subtracts the mean first.",
        ),
        Mistake(
            "mean of the absolute values",
            _spread(unscaled=lambda s: s.abs().mean()),
            "the mean of the absolute scores, which is another measure of size.",
            "use .std().",
        ),
        Mistake(
            "theory",
            lambda query, key: (query.shape[-1] ** 0.5, 1.0),
            "the theory for standard normal entries, the root of d_k and 1, not a measurement.",
            "compute the dot products, then their standard deviation.",
        ),
        Mistake(
            "divided by their own spread",
            lambda query, key: (_rows(query, key).std(), _rows(query, key).std() / _rows(query, key).std()),
            "the scores divided by their own standard deviation: that gives 1 for any scores.",
            "divide by the root of d_k, whatever the scores are.",
        ),
        Mistake(
            "scaled first",
            lambda query, key: _spread()(query, key)[::-1],
            "the two numbers in the other order: scaled first.",
            "return the unscaled one first.",
        ),
        Mistake(
            "not scaled",
            _spread(factor=lambda query: 1.0),
            "twice the unscaled number: nothing was divided by the root of d_k.",
            "divide the scores by query.shape[-1] ** 0.5 for the second number.",
        ),
    ),
    advice="print the shape of your scores: it must be (n,), one dot product for each row.",
)

# The mistakes that 4.2 to 4.6 share -------------------------------------------------------------------------------------


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
    scale = query.shape[-1] ** -0.5 if factor is None else factor(query, key, value)
    weights = after(weigh(query @ turn(key) * scale), query)
    return pool(weights, value, key, query), weights


def _shared(powers):
    return powers / powers.sum(-1, keepdim=True)


def _hard(scores):
    return F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)


# name -> (what to replace, what it did, what to try)
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
        {"factor": lambda q, k, v: q.shape[-1] ** -0.25},
        "the scores divided by the fourth root of d_k: half of the scaling is missing.",
        "divide the scores by query.shape[-1] ** 0.5.",
    ),
    "multiplied": (
        {"factor": lambda q, k, v: q.shape[-1] ** 0.5},
        "the scores multiplied by the root of d_k: your weights are too sharp.",
        "divide instead of multiplying.",
    ),
    "root of L_k": (
        {"factor": lambda q, k, v: k.shape[-2] ** -0.5},
        "the scores divided by the root of L_k, the number of keys.",
        "the scale is the size of one key, query.shape[-1]; the number of keys plays no part.",
    ),
    "root of d_v": (
        {"factor": lambda q, k, v: v.shape[-1] ** -0.5},
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
_NAMED = {name: (lambda q, k, v, step=step[0]: _attention(q, k, v, **step)) for name, step in _STEPS.items()}
_NAMED["query and key swapped"] = lambda q, k, v: _attention(k, q, v)
_SWAPPED = (
    "query and key are swapped: row i of your scores belongs to key i.",
    "the query stands on the left, query @ key.transpose(-2, -1): rows are queries, columns are keys.",
)


def _step_mistakes(answer_with, skip=()):
    """The shared mistakes for an exercise. ``answer_with(attend)``: its answer with ``attend(q, k, v)`` in the middle."""
    told = {name: step[1:] for name, step in _STEPS.items()} | {"query and key swapped": _SWAPPED}
    return tuple(Mistake(name, answer_with(_NAMED[name]), *told[name]) for name in _NAMED if name not in skip)


def _returned(right):
    """Mistakes in what is handed back, for an exercise whose right answer is ``right(*arguments)``."""
    return (
        Mistake("output alone", lambda *given: right(*given)[0], "the output alone.", "return both: output, weights."),
        Mistake(
            "weights first",
            lambda *given: right(*given)[::-1],
            "the two results in the other order: weights first.",
            "return output, weights.",
        ),
    )


def _loop_attention(query, key, value):
    """One dot product at a time, softmax by hand."""
    shape = (*query.shape[:-1], key.shape[-2])
    q, k, v = (t.reshape(-1, *t.shape[-2:]) for t in (query, key, value))
    weights = torch.zeros(q.shape[0], q.shape[1], k.shape[1])
    for b in range(len(q)):
        scores = [[sum(x * y for x, y in zip(row, col, strict=True)) for col in k[b].tolist()] for row in q[b].tolist()]
        scores = torch.tensor(scores) / q.shape[-1] ** 0.5
        weights[b] = _shared((scores - scores.amax(-1, keepdim=True)).exp())
    return torch.stack([w @ x for w, x in zip(weights, v, strict=True)]).view(*shape[:-1], -1), weights.view(shape)


def _einsum_attention(query, key, value):
    scores = torch.einsum("...id,...jd->...ij", query, key) / query.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    return torch.einsum("...ij,...jv->...iv", weights, value), weights


def _in_double(query, key, value):
    return tuple(part.float() for part in _attention(query.double(), key.double(), value.double()))


def _broadcast_attention(query, key, value):
    weights = ((query[..., :, None, :] * key[..., None, :, :]).sum(-1) / query.shape[-1] ** 0.5).softmax(-1)
    return (weights[..., None] * value[..., None, :, :]).sum(-2), weights


def _attention_by_fused(query, key, value):
    weights = (query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5).softmax(-1)
    return F.scaled_dot_product_attention(query, key, value), weights


def _course(query, key, value):
    return attention.scaled_dot_product_attention(query, key, value)


def _right_ways(answer_with):
    """Other right answers, for an exercise whose answer is ``answer_with(attend)``."""
    return (
        Alternative("plain", answer_with(_attention)),
        Alternative("loops", answer_with(_loop_attention)),
        Alternative("einsum", answer_with(_einsum_attention)),
        Alternative("query scaled first", answer_with(lambda q, k, v: _attention(q / q.shape[-1] ** 0.5, k, v, _one))),
        Alternative(
            "both by the fourth root",
            answer_with(lambda q, k, v: _attention(q / q.shape[-1] ** 0.25, k / k.shape[-1] ** 0.25, v, _one)),
        ),
        Alternative(
            "logarithm of the sum",
            answer_with(lambda q, k, v: _attention(q, k, v, weigh=lambda s: (s - s.logsumexp(-1, keepdim=True)).exp())),
        ),
        Alternative("double precision inside", answer_with(_in_double)),
        Alternative("products broadcast", answer_with(_broadcast_attention)),
        Alternative("masked_softmax", answer_with(lambda q, k, v: _attention(q, k, v, weigh=attention.masked_softmax))),
        Alternative("PyTorch's own", answer_with(_attention_by_fused), off_limits=True),
        Alternative("the course's own", answer_with(_course), off_limits=True),
    )


def _one(query, key, value):
    return 1.0


# 4.2 ------------------------------------------------------------------------------------------------------------------


def _eighths(*shape, rng):
    """Multiples of 1/8, so that all ways to add up their products agree to the last bit."""
    return (8 * torch.randn(shape, generator=rng)).round() / 8


def _large_scores(rng):
    """Scores far above 100 in one row, far below -100 in the next; within a row they are of ordinary size."""
    query, key = _eighths(2, 3, 16, rng=rng), _eighths(2, 5, 16, rng=rng)
    query[..., 0] = torch.tensor([16.0, 0.0, -16.0])
    key[..., 0] = 32.0
    return {"query": query, "key": key, "value": torch.randn(2, 5, 4, generator=rng)}


def _attention_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    hand = {
        "query": torch.tensor([[[2.0, 0.0, 0.0, 0.0]]]),
        "key": torch.tensor([[[3.0, 1.0, 1.0, 1.0], [1.0, 3.0, 3.0, 3.0]]]).log(),
        "value": torch.tensor([[[8.0], [4.0]]]),
    }
    cases = [hand]
    for lead, L_q, L_k, d_k, d_v in (((2,), 5, 7, 3, 6), ((3,), 6, 4, 8, 2), ((1,), 4, 4, 6, 5), ((2, 3), 5, 7, 4, 6)):
        query, key, value = ((*lead, L_q, d_k), (*lead, L_k, d_k), (*lead, L_k, d_v))
        cases.append(
            {
                "query": torch.randn(query, generator=rng),
                "key": torch.randn(key, generator=rng),
                "value": torch.randn(value, generator=rng),
            }
        )
    return [*cases, _large_scores(rng)]


def _by_d_model(query, key, value):
    """With heads in the second axis, the scale of all heads together: the root of d_model."""
    heads = query.shape[1] if query.dim() == 4 else 1
    return _attention(query, key, value, lambda q, k, v: (heads * q.shape[-1]) ** -0.5)


def _fixed_axes(query, key, value):
    scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
    return scores.softmax(-1) @ value, scores.softmax(-1)


def _flat_softmax(scores):
    return scores.flatten(-2).softmax(-1).view(scores.shape)


ATTENTION = Exercise(
    number="4.2",
    title="Scaled dot-product attention",
    points=4,
    inputs=_attention_inputs,
    reference=_course,
    returns=("output", "weights"),
    off_limits=READY_MADE,
    alternatives=(
        *_right_ways(lambda attend: lambda query, key, value: attend(query, key, value)),
        Alternative("cosines undone", lambda q, k, v: _cosine_attention(q, k, v, True)),
    ),
    mistakes=(
        *_step_mistakes(lambda attend: lambda query, key, value: attend(query, key, value)),
        Mistake(
            "root of d_model with heads",
            _by_d_model,
            "right for one leading axis; with two, the root of all heads' entries together (d_model) is divided by.",
            "divide by the root of the last size of query alone, however many axes stand in front.",
        ),
        Mistake(
            "root of L_q",
            lambda q, k, v: _attention(q, k, v, lambda q, k, v: q.shape[-2] ** -0.5),
            "the scores divided by the root of L_q, the number of queries.",
            "divide by the root of the last size, query.shape[-1].",
        ),
        Mistake(
            "root of shape[1]",
            lambda q, k, v: _attention(q, k, v, lambda q, k, v: q.shape[1] ** -0.5),
            "the scores divided by the root of query.shape[1], which is a length or a number of heads.",
            "count from the end: query.shape[-1].",
        ),
        Mistake(
            "axes 1 and 2",
            _fixed_axes,
            "key.transpose(1, 2): right with one leading axis, but with two the keys' axis is another one.",
            "count from the end: key.transpose(-2, -1).",
        ),
        Mistake(
            "softmax over dim 1",
            lambda q, k, v: _attention(q, k, v, weigh=lambda s: s.softmax(1)),
            "a softmax over dim=1: the queries with one leading axis, the second leading axis with two.",
            "count from the end: dim=-1.",
        ),
        Mistake(
            "softmax over dim 2",
            lambda q, k, v: _attention(q, k, v, weigh=lambda s: s.softmax(2)),
            "a softmax over dim=2: the keys with one leading axis, but the queries with two.",
            "count from the end: dim=-1.",
        ),
        Mistake(
            "over everything",
            lambda q, k, v: _attention(q, k, v, weigh=_flat_softmax),
            "a softmax over queries and keys together: all weights of an item sum to 1, each row should.",
            "normalize over the keys alone, dim=-1.",
        ),
        Mistake(
            "cosine",
            lambda q, k, v: _cosine_attention(q, k, v, False),
            "the cosine of query and key: their lengths were divided out, which the task does not ask for.",
            "leave the vectors as they are and divide the scores by the root of d_k.",
        ),
        Mistake(
            "scores handed back",
            lambda q, k, v: (_course(q, k, v)[0], q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5),
            "the output is right, but what you hand back beside it are the scores, not the weights.",
            "return the result of the softmax.",
        ),
        *_returned(_course),
    ),
    advice="print weights.sum(dim=-1): all ones. Then compare scores[0, 0, 0] with one dot product over d_k ** 0.5.",
)


def _cosine_attention(query, key, value, restore):
    lengths = query.norm(dim=-1, keepdim=True) * key.norm(dim=-1)[..., None, :]  # (..., L_q, L_k)
    cosines = F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)
    scores = cosines * lengths / query.shape[-1] ** 0.5 if restore else cosines
    return scores.softmax(-1) @ value, scores.softmax(-1)


# 4.3 ------------------------------------------------------------------------------------------------------------------


def _self_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L, d_model, d_k, d_v in (
        (1, 2, 3, 2, 1),
        (2, 5, 8, 3, 6),
        (3, 4, 6, 9, 7),
        (2, 7, 4, 4, 4),
        (2, 6, 10, 5, 5),
    ):
        x = torch.randn(B, L, d_model, generator=rng)
        W_q, W_k, W_v = (torch.randn(d_model, d, generator=rng) / d_model**0.5 for d in (d_k, d_k, d_v))
        # Scores of middling size, so that no softmax is saturated; matrices of unlike size, so that a mix-up shows.
        cases.append({"x": x, "W_q": 1.4 * W_q, "W_k": 1.2 * W_k, "W_v": W_v})
    x, W_q, W_k = _eighths(2, 5, 6, rng=rng), _eighths(6, 16, rng=rng), _eighths(6, 16, rng=rng)
    x[..., -1], W_q[-1], W_k[-1] = 1.0, 0.0, 0.0
    # Queries of +6, 0, -6 ... in an entry in which all keys are about 256: rows of scores far above 100 and far below.
    x[..., 0], W_q[:, 0], W_k[:, 0] = torch.tensor([2.0, 0.0, -2.0, 1.0, -1.0]), 0.0, 0.0
    W_q[0, 0], W_k[-1, 0] = 3.0, 256.0
    return [*cases, {"x": x, "W_q": W_q / 2, "W_k": W_k / 2, "W_v": torch.randn(6, 3, generator=rng)}]


def _self(attend):
    return lambda x, W_q, W_k, W_v: attend(x @ W_q, x @ W_k, x @ W_v)


def _across_batch(x, W_q, W_k, W_v):
    rows = x.flatten(0, 1)  # (B * L, d_model)
    output, weights = _attention(rows @ W_q, rows @ W_k, rows @ W_v)
    return output.view(*x.shape[:2], -1), weights.view(*x.shape[:2], -1)


SELF_ATTENTION = Exercise(
    number="4.3",
    title="Self-attention from weight matrices",
    points=3,
    inputs=_self_inputs,
    reference=_self(_course),
    returns=("output", "weights"),
    off_limits=READY_MADE,
    alternatives=(
        *_right_ways(_self),
        Alternative(
            "F.linear",
            lambda x, W_q, W_k, W_v: _attention(F.linear(x, W_q.T), F.linear(x, W_k.T), F.linear(x, W_v.T)),
        ),
        Alternative(
            "one matrix for the scores",
            lambda x, W_q, W_k, W_v: _by_scores(x @ (W_q @ W_k.T) @ x.mT / W_q.shape[1] ** 0.5, x @ W_v),
        ),
        Alternative(
            "values projected last",
            lambda x, W_q, W_k, W_v: _values_last(x, W_q, W_k, W_v),
        ),
        Alternative("fused", lambda x, W_q, W_k, W_v: _fused_self(x, W_q, W_k, W_v)),
    ),
    mistakes=(
        *_step_mistakes(_self, skip=("keys pooled",)),
        *_returned(_self(_course)),
        Mistake(
            "root of d_model",
            lambda x, W_q, W_k, W_v: _attention(x @ W_q, x @ W_k, x @ W_v, lambda q, k, v: x.shape[-1] ** -0.5),
            "the scores divided by the root of d_model, the size of x; the vectors that are multiplied have d_k entries.",
            "divide by the root of the last size of the projected query.",
        ),
        Mistake(
            "values by the key projection",
            lambda x, W_q, W_k, W_v: _attention(x @ W_q, x @ W_k, x @ W_k),
            "the keys are added up: values made with W_k, or weights @ key. W_v played no part.",
            "value = x @ W_v.",
        ),
        Mistake(
            "values by the query projection",
            lambda x, W_q, W_k, W_v: _attention(x @ W_q, x @ W_k, x @ W_q),
            "the values were made with W_q, and W_v was never used.",
            "value = x @ W_v.",
        ),
        Mistake(
            "values not projected",
            lambda x, W_q, W_k, W_v: _attention(x @ W_q, x @ W_k, x),
            "the tokens themselves are added up: the values were not projected.",
            "value = x @ W_v.",
        ),
        Mistake(
            "nothing projected",
            lambda x, W_q, W_k, W_v: _attention(x, x, x),
            "attention of x with itself, without any projection: the three matrices were not used.",
            "make query, key and value with one matrix each.",
        ),
        Mistake(
            "keys by the query projection",
            lambda x, W_q, W_k, W_v: _attention(x @ W_q, x @ W_q, x @ W_v),
            "queries and keys were both made with W_q, so your scores are symmetric.",
            "key = x @ W_k.",
        ),
        Mistake(
            "queries by the key projection",
            lambda x, W_q, W_k, W_v: _attention(x @ W_k, x @ W_k, x @ W_v),
            "queries and keys were both made with W_k, so your scores are symmetric.",
            "query = x @ W_q.",
        ),
        Mistake(
            "matrices transposed",
            lambda x, W_q, W_k, W_v: _attention(x @ W_q.T, x @ W_k.T, x @ W_v.T),
            "the matrices were transposed. Here they are stored as (d_model, d_k), not as nn.Linear stores its own.",
            "x @ W_q, without .T.",
        ),
        Mistake(
            "across the batch",
            _across_batch,
            "tokens attend to the tokens of all items of the batch: the batch axis was flattened away.",
            "keep (B, L, d) throughout; matrix products work item by item.",
        ),
        Mistake(
            "input added",
            lambda x, W_q, W_k, W_v: _input_added(x, *_self(_attention)(x, W_q, W_k, W_v)),
            "the input was added to the output. That residual belongs to the layer around attention (lesson 09).",
            "return the weighted sums alone.",
        ),
    ),
    advice="check the pieces: x @ W_q has shape (B, L, d_k), the scores (B, L, L), the output (B, L, d_v).",
)


def _by_scores(scores, value):
    return scores.softmax(-1) @ value, scores.softmax(-1)


def _values_last(x, W_q, W_k, W_v):
    weights = _attention(x @ W_q, x @ W_k, x)[1]
    return weights @ x @ W_v, weights


def _fused_self(x, W_q, W_k, W_v):
    sizes = [W.shape[1] for W in (W_q, W_k, W_v)]
    return _attention(*(x @ torch.cat([W_q, W_k, W_v], dim=1)).split(sizes, dim=-1))


def _input_added(x, output, weights):
    return output + x, weights


# 4.4 ------------------------------------------------------------------------------------------------------------------


def _fused_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    hand = {"x": torch.tensor([[[1.0, 10.0]]]), "W_qkv": torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0] * 6])}
    cases = [hand]
    for B, L, d in ((2, 5, 4), (3, 6, 4), (2, 7, 6)):
        cases.append({"x": torch.randn(B, L, d, generator=rng), "W_qkv": torch.randn(d, 3 * d, generator=rng)})
    return cases


def _thirds(W, order=(0, 1, 2)):
    d = W.shape[0]
    return [W[:, i * d : (i + 1) * d] for i in order]


def _fused(x, W_qkv):
    return tuple((x @ W_qkv).chunk(3, dim=-1))


FUSED = Exercise(
    number="4.4",
    title="One fused projection",
    points=2,
    inputs=_fused_inputs,
    reference=lambda x, W_qkv: tuple(x @ W for W in _thirds(W_qkv)),
    returns=("query", "key", "value"),
    alternatives=(
        Alternative("chunk", lambda x, W_qkv: (x @ W_qkv).chunk(3, dim=-1)),
        Alternative("split by size", lambda x, W_qkv: (x @ W_qkv).split(x.shape[-1], dim=-1)),
        Alternative("slices", lambda x, W_qkv: tuple(_thirds_of(x @ W_qkv, i) for i in range(3))),
        Alternative("view and unbind", lambda x, W_qkv: (x @ W_qkv).view(*x.shape[:2], 3, -1).unbind(2)),
        Alternative(
            "view and permute", lambda x, W_qkv: tuple((x @ W_qkv).view(*x.shape[:2], 3, -1).permute(2, 0, 1, 3))
        ),
        Alternative("F.linear", lambda x, W_qkv: F.linear(x, W_qkv.T).chunk(3, dim=-1)),
        Alternative("tensor_split", lambda x, W_qkv: torch.tensor_split(x @ W_qkv, 3, dim=-1)),
        Alternative("matrix split first", lambda x, W_qkv: [x @ W for W in W_qkv.chunk(3, dim=1)]),
        Alternative(
            "einsum", lambda x, W_qkv: torch.einsum("bld,dne->nble", x, W_qkv.view(x.shape[-1], 3, -1)).unbind(0)
        ),
    ),
    mistakes=(
        Mistake(
            "key, query, value",
            lambda x, W_qkv: tuple(x @ W for W in _thirds(W_qkv, (1, 0, 2))),
            "query and key are exchanged: the first d columns make the queries.",
            "the order of the columns is query, key, value.",
        ),
        Mistake(
            "value, key, query",
            lambda x, W_qkv: tuple(x @ W for W in _thirds(W_qkv, (2, 1, 0))),
            "the three parts in reverse order.",
            "the order of the columns is query, key, value.",
        ),
        Mistake(
            "key, value, query",
            lambda x, W_qkv: tuple(x @ W for W in _thirds(W_qkv, (1, 2, 0))),
            "the three parts in another order: keys first.",
            "the order of the columns is query, key, value.",
        ),
        Mistake(
            "query, value, key",
            lambda x, W_qkv: tuple(x @ W for W in _thirds(W_qkv, (0, 2, 1))),
            "key and value are exchanged: the last d columns make the values.",
            "the order of the columns is query, key, value.",
        ),
        Mistake(
            "value, query, key",
            lambda x, W_qkv: tuple(x @ W for W in _thirds(W_qkv, (2, 0, 1))),
            "the three parts in another order: values first.",
            "the order of the columns is query, key, value.",
        ),
        Mistake(
            "key twice",
            lambda x, W_qkv: tuple(x @ W for W in _thirds(W_qkv, (0, 1, 1))),
            "the values are the keys once more: the last d columns were never used.",
            "take the third part for the values.",
        ),
        Mistake(
            "interleaved",
            lambda x, W_qkv: (x @ W_qkv).view(*x.shape[:2], -1, 3).unbind(-1),
            "every third column was taken: query, key and value interleaved.",
            "each part is a block of d columns that stand side by side.",
        ),
        Mistake(
            "matrix reshaped",
            lambda x, W_qkv: tuple(x @ W for W in W_qkv.reshape(3, x.shape[-1], x.shape[-1])),
            "the matrix was reshaped to (3, d, d): the shape is right, but its rows are scrambled.",
            "cut along the columns: chunk(3, dim=1), or project first and cut the last axis.",
        ),
        Mistake(
            "product reshaped",
            lambda x, W_qkv: tuple((x @ W_qkv).reshape(3, *x.shape)),
            "the product was reshaped to (3, B, L, d): the shape is right, the content scrambled.",
            "cut the last axis with chunk or split.",
        ),
        Mistake(
            "product of each item reshaped",
            lambda x, W_qkv: (x @ W_qkv).reshape(x.shape[0], 3, *x.shape[1:]).unbind(1),
            "the product was reshaped to (B, 3, L, d): the shape is right, the content scrambled.",
            "cut the last axis with chunk or split; or view it as (B, L, 3, d), where the 3 stands before the d.",
        ),
        Mistake(
            "cut along the length",
            lambda x, W_qkv: _unpacked((x @ W_qkv).chunk(3, dim=1)),
            "the product was cut along the length (dim=1).",
            "the parts lie side by side on the last axis: dim=-1.",
        ),
        Mistake(
            "cut along the batch",
            lambda x, W_qkv: _unpacked((x @ W_qkv).chunk(3)),
            "the product was cut along the batch (dim=0, which is the default).",
            "the parts lie side by side on the last axis: dim=-1.",
        ),
        Mistake(
            "parts of size 3",
            lambda x, W_qkv: _unpacked((x @ W_qkv).split(3, dim=-1)),
            "split(3) cuts into parts of size 3, not into 3 parts.",
            "use chunk(3, dim=-1), or split with the size d.",
        ),
        Mistake(
            "not split",
            lambda x, W_qkv: x @ W_qkv,
            "the product in one piece, (B, L, 3 d).",
            "cut its last axis in three and return the three parts.",
        ),
        Mistake(
            "stacked",
            lambda x, W_qkv: torch.stack(_fused(x, W_qkv)),
            "the three parts stacked to one tensor, (3, B, L, d).",
            "return query, key, value.",
        ),
        Mistake(
            "query scaled",
            lambda x, W_qkv: (x @ W_qkv[:, : x.shape[-1]] / x.shape[-1] ** 0.5, *_fused(x, W_qkv)[1:]),
            "the queries are divided by the root of d already. Here only the projection is asked for.",
            "leave the scale to attention.",
        ),
        Mistake(
            "matrix alone split",
            lambda x, W_qkv: tuple(_thirds(W_qkv)),
            "the three matrices; they were not yet applied to x.",
            "multiply: x @ W_qkv, then cut the last axis.",
        ),
    ),
    advice="print (x @ W_qkv).shape: the last axis holds query, key and value side by side, d entries each.",
)


def _unpacked(parts):
    query, key, value = parts
    return query, key, value


def _thirds_of(product, i):
    d = product.shape[-1] // 3
    return product[..., i * d : (i + 1) * d]


# 4.5 ------------------------------------------------------------------------------------------------------------------


def _cross_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    sizes = (
        (1, 2, 3, 4, 4, 2, 1),
        (2, 5, 7, 6, 6, 3, 4),
        (2, 6, 4, 8, 5, 3, 7),
        (3, 4, 4, 5, 9, 6, 2),
        (2, 5, 3, 4, 4, 4, 4),
    )
    for B, L_q, L_k, d_x, d_m, d_k, d_v in sizes:
        x, memory = torch.randn(B, L_q, d_x, generator=rng), torch.randn(B, L_k, d_m, generator=rng)
        W_q, W_k, W_v = (torch.randn(a, b, generator=rng) / a**0.5 for a, b in ((d_x, d_k), (d_m, d_k), (d_m, d_v)))
        cases.append({"x": x, "memory": memory, "W_q": 1.4 * W_q, "W_k": 1.2 * W_k, "W_v": W_v})
    # As in _large_scores, with projections that leave the vectors as they are.
    query, key, _ = _large_scores(rng).values()
    W_v = torch.randn(16, 4, generator=rng)
    return [*cases, {"x": query, "memory": key, "W_q": torch.eye(16), "W_k": torch.eye(16), "W_v": W_v}]


def _cross(attend):
    return lambda x, memory, W_q, W_k, W_v: attend(x @ W_q, memory @ W_k, memory @ W_v)


def _joined(x, memory, W_q, W_k, W_v):
    both = torch.cat([x, memory], dim=1)  # (B, L_q + L_k, d)
    return _attention(x @ W_q, both @ W_k, both @ W_v)


CROSS = Exercise(
    number="4.5",
    title="Cross-attention",
    points=4,
    inputs=_cross_inputs,
    reference=_cross(_course),
    returns=("output", "weights"),
    off_limits=READY_MADE,
    alternatives=(
        *_right_ways(_cross),
        Alternative(
            "F.linear",
            lambda x, m, W_q, W_k, W_v: _attention(F.linear(x, W_q.T), F.linear(m, W_k.T), F.linear(m, W_v.T)),
        ),
        Alternative(
            "keys and values fused",
            lambda x, m, W_q, W_k, W_v: _attention(
                x @ W_q, *(m @ torch.cat([W_k, W_v], 1)).split([W_k.shape[1], W_v.shape[1]], -1)
            ),
        ),
    ),
    mistakes=(
        *_step_mistakes(_cross, skip=("keys pooled",)),
        *_returned(_cross(_course)),
        Mistake(
            "root of the size of x",
            lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m @ W_k, m @ W_v, lambda q, k, v: x.shape[-1] ** -0.5),
            "the scores divided by the root of d_x, the size of x before its projection.",
            "divide by the root of d_k, the last size of the projected query.",
        ),
        Mistake(
            "root of the size of memory",
            lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m @ W_k, m @ W_v, lambda q, k, v: m.shape[-1] ** -0.5),
            "the scores divided by the root of d_m, the size of the memory before its projection.",
            "divide by the root of d_k, the last size of the projected query.",
        ),
        Mistake(
            "values by the key projection",
            lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m @ W_k, m @ W_k),
            "the keys are added up: values made with W_k, or weights @ key. W_v played no part.",
            "value = memory @ W_v.",
        ),
        Mistake(
            "values not projected",
            lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m @ W_k, m),
            "the tokens of the memory are added up as they are: the values were not projected.",
            "value = memory @ W_v.",
        ),
        Mistake(
            "self-attention on x",
            lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, x @ W_k, x @ W_v),
            "self-attention on x: the memory was not used.",
            "make keys and values of the memory.",
        ),
        Mistake(
            "self-attention on the memory",
            lambda x, m, W_q, W_k, W_v: _attention(m @ W_q, m @ W_k, m @ W_v),
            "self-attention on the memory: x was not used.",
            "make the queries of x.",
        ),
        Mistake(
            "x and memory exchanged",
            lambda x, m, W_q, W_k, W_v: _attention(m @ W_q, x @ W_k, x @ W_v),
            "x and memory are exchanged: here the memory asks, and x is asked.",
            "queries come from x, keys and values from memory.",
        ),
        Mistake(
            "values from x",
            lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m @ W_k, x @ W_v),
            "the keys come from the memory, but the values from x.",
            "a key and its value come from the same token: take both from memory.",
        ),
        Mistake(
            "keys from x",
            lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, x @ W_k, m @ W_v),
            "the values come from the memory, but the keys from x.",
            "a key and its value come from the same token: take both from memory.",
        ),
        Mistake(
            "memory of the first item",
            lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m[:1] @ W_k, m[:1] @ W_v),
            "the memory of the first item was used for the whole batch.",
            "keep the batch axis: memory, not memory[0].",
        ),
        Mistake(
            "memory cut",
            lambda x, m, W_q, W_k, W_v: _attention(x @ W_q, m[:, : x.shape[1]] @ W_k, m[:, : x.shape[1]] @ W_v),
            "the memory was cut to the length of x.",
            "use all its tokens: L_q and L_k may differ.",
        ),
        Mistake(
            "joined",
            _joined,
            "x and memory were joined to one sequence, so that x attends to itself as well.",
            "keys and values come from memory alone.",
        ),
    ),
    advice="check the pieces: queries (B, L_q, d_k) from x, keys (B, L_k, d_k) and values (B, L_k, d_v) from memory.",
)

# 4.6 ------------------------------------------------------------------------------------------------------------------


def _layer_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L, d_model, d_k, d_v in ((1, 3, 6, 4, 4), (2, 5, 8, 3, 6), (3, 4, 5, 7, 2), (2, 6, 4, 4, 4)):
        case = {"x": torch.randn(B, L, d_model, generator=rng)}
        for name, d, size in (("q_proj", d_k, 1.4), ("k_proj", d_k, 1.2), ("v_proj", d_v, 1.0)):
            case[f"{name}.weight"] = size * torch.randn(d, d_model, generator=rng) / d_model**0.5
            case[f"{name}.bias"] = 0.3 * torch.randn(d, generator=rng)
        cases.append(case | {"slope": torch.randn(B, L, d_v, generator=rng)})
    return cases


PROJECTIONS = ("q_proj", "k_proj", "v_proj")


def _run_layer(answer, case):
    """The output, and the gradients that reach the three layers when the output's gradient is ``slope``."""
    d_model, d_k, d_v = case["x"].shape[-1], case["q_proj.weight"].shape[0], case["v_proj.weight"].shape[0]
    layer = answer(d_model, d_k, d_v)
    for name in PROJECTIONS:
        part = getattr(layer, name, None)
        if not isinstance(part, nn.Linear) or part.bias is None:
            raise ValueError(f"{name} must be an nn.Linear with a bias, as in the constructor that was given")
        with torch.no_grad():
            part.weight.copy_(case[f"{name}.weight"])
            part.bias.copy_(case[f"{name}.bias"])
    output = layer(case["x"])
    learned = [getattr(layer, name).weight for name in PROJECTIONS]
    gradients = [None] * len(learned)
    if torch.is_tensor(output) and output.requires_grad and output.shape == case["slope"].shape:
        gradients = torch.autograd.grad((output * case["slope"]).sum(), learned, allow_unused=True)
    found = [torch.zeros_like(w) if g is None else g for w, g in zip(learned, gradients, strict=True)]
    return output.detach() if torch.is_tensor(output) else output, *found


class _Layer(nn.Module):
    """Self-attention with the constructor that the exercise gives."""

    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj, self.k_proj = nn.Linear(d_model, d_k), nn.Linear(d_model, d_k)
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
    weight, bias = torch.cat([layer.weight for layer in layers]), torch.cat([layer.bias for layer in layers])
    return _attention(*F.linear(x, weight, bias).split([layer.out_features for layer in layers], dim=-1))


BUG = Exercise(
    number="4.6",
    title="Find the bug",
    points=3,
    inputs=_layer_inputs,
    reference=_layer_with(_course),
    returns=("output", *(f"gradient of {name}.weight" for name in PROJECTIONS)),
    call=_run_layer,
    expects="class",
    alternatives=(
        Alternative("as given", _Layer),
        Alternative("attention of 4.2", _layer_with(_attention)),
        Alternative("einsum", _layer_with(_einsum_attention)),
        Alternative("fused", _layer(_layer_fused)),
        Alternative(
            "weights and biases by hand",
            _layer(
                lambda self, x: _attention(*(x @ p.weight.T + p.bias for p in (self.q_proj, self.k_proj, self.v_proj)))
            ),
        ),
    ),
    mistakes=(
        Mistake(
            "still the key projection",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), self.k_proj(x))),
            "the bug is still there: what is added up are the keys, from k_proj, and v_proj is never used.",
            "find the line that makes the values, and look at which layer it calls.",
        ),
        Mistake(
            "values by the query projection",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), self.q_proj(x))),
            "now the values are made by q_proj; v_proj is still never used.",
            "each role has a layer of its own.",
        ),
        Mistake(
            "values not projected",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), x)),
            "the tokens themselves are added up; v_proj is still never used.",
            "make the values with v_proj.",
        ),
        Mistake(
            "keys and values exchanged",
            _layer(lambda self, x: _attention(self.q_proj(x), self.v_proj(x), self.k_proj(x))),
            "keys and values are exchanged: v_proj makes the keys now.",
            "keys from k_proj, values from v_proj.",
        ),
        Mistake(
            "keys by the value projection",
            _layer(lambda self, x: _attention(self.q_proj(x), self.v_proj(x), self.v_proj(x))),
            "v_proj makes the values now, and the keys as well; k_proj is never used.",
            "change the values only, and leave the keys with k_proj.",
        ),
        Mistake(
            "values projected twice",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), self.v_proj(self.k_proj(x)))),
            "v_proj is applied to the keys: k_proj(x) goes through it, where x should.",
            "apply v_proj to x.",
        ),
        Mistake(
            "both added",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), self.v_proj(x) + self.k_proj(x))),
            "the values of both layers were added; the keys still take part in the output.",
            "make the values with v_proj alone.",
        ),
        Mistake(
            "values detached",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), self.v_proj(x).detach())),
            "the numbers are right, but no gradient reaches v_proj: it can never learn.",
            "leave .detach(), .data and torch.no_grad() out of the forward pass.",
        ),
        Mistake(
            "nothing learns",
            _layer(
                lambda self, x: [part.detach() for part in _attention(self.q_proj(x), self.k_proj(x), self.v_proj(x))]
            ),
            "the numbers are right, but no gradient reaches any of the three layers: they can never learn.",
            "leave .detach(), .data and torch.no_grad() out of the forward pass.",
        ),
        Mistake(
            "queries and keys detached",
            _layer(lambda self, x: _attention(self.q_proj(x).detach(), self.k_proj(x).detach(), self.v_proj(x))),
            "the numbers are right, but no gradient reaches q_proj and k_proj: the weights can never learn.",
            "leave .detach(), .data and torch.no_grad() out of the forward pass.",
        ),
        Mistake(
            "queries detached",
            _layer(lambda self, x: _attention(self.q_proj(x).detach(), self.k_proj(x), self.v_proj(x))),
            "the numbers are right, but no gradient reaches q_proj: it can never learn.",
            "leave .detach(), .data and torch.no_grad() out of the forward pass.",
        ),
        Mistake(
            "keys detached",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x).detach(), self.v_proj(x))),
            "the numbers are right, but no gradient reaches k_proj: it can never learn.",
            "leave .detach(), .data and torch.no_grad() out of the forward pass.",
        ),
        Mistake(
            "without its bias",
            _layer(lambda self, x: _attention(self.q_proj(x), self.k_proj(x), F.linear(x, self.v_proj.weight))),
            "the values are made with the weights of v_proj, but without its bias.",
            "call the layer: self.v_proj(x).",
        ),
        Mistake(
            "root of d_model",
            _layer(
                lambda self, x: _attention(
                    self.q_proj(x), self.k_proj(x), self.v_proj(x), lambda q, k, v: x.shape[-1] ** -0.5
                )
            ),
            "the values are mended, but now the scores are divided by the root of d_model.",
            "leave the scale as it was: the root of the size of the projected query.",
        ),
        Mistake(
            "weights handed back too",
            type("SelfAttention", (_Layer,), {"forward": _layer_with_weights}),
            "two things; asked for is the output alone.",
            "return the output without the weights: attention(...)[0] if you use your own function.",
        ),
        *_step_mistakes(_layer_with, skip=("keys pooled", "no shift", "shifted by the largest of all")),
    ),
    advice="double the weights and the bias of v_proj: your output must double. What it returns is a tensor (B, L, d_v).",
)

# 4.7, 4.8 -------------------------------------------------------------------------------------------------------------

PERMUTED = Quiz(
    number="4.7",
    title="Two tokens change places",
    points=1,
    right="b",
    options={
        "a": Option(
            "Nothing: the output stays as it was, row by row.",
            "each row belongs to a query, and the queries have changed places, so their outputs have too.",
        ),
        "b": Option(
            "Rows 2 and 5 of the output are exchanged, and all other rows stay as they were.",
            "each query still meets the same keys and values, and a sum does not depend on its order.",
        ),
        "c": Option(
            "All rows change, since every token now sees another order.",
            "no token sees an order: it adds up the same values with the same weights as before.",
        ),
        "d": Option(
            "Rows 2 and 5 get new values that appeared in no row before.",
            "each of the two tokens finds the same keys and values as before; only the place of its row has changed.",
        ),
    },
)

LENGTH = Quiz(
    number="4.8",
    title="Four times as long",
    points=1,
    right="d",
    options={
        "a": Option(
            "The same: the weights of each query sum to 1 in both.",
            "the sum of a row is 1 in both, but there are more rows, and each has more entries to be stored.",
        ),
        "b": Option(
            "Twice as much.",
            "twice is the root of four; the number of weights grows faster than the length, not slower.",
        ),
        "c": Option(
            "Four times as much.",
            "that holds for queries, keys and values; the weights have four times the rows and four times the columns.",
        ),
        "d": Option(
            "Sixteen times as much.",
            "every query has a weight for every key: four times the rows, each four times as long.",
        ),
    },
)

EXERCISES = (SPREAD, ATTENTION, SELF_ATTENTION, FUSED, CROSS, BUG, PERMUTED, LENGTH)
