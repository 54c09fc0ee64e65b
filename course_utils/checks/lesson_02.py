"""Lesson 02, attention as a soft lookup: what is right, what is wrong, and how it is told."""

import functools
import math

import torch
import torch.nn.functional as F

from course_utils import attention

from .exercise import Alternative, Exercise, Mistake, Option, Quiz

# 2.1 ------------------------------------------------------------------------------------------------------------------


def _score_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    mixed = torch.randn(3, 4, 6, generator=rng)
    mixed[0, 1], mixed[0, 2] = mixed[0, 1] + 1000.0, mixed[0, 2] - 1000.0
    return [
        {"scores": torch.tensor([[0.0, 1.0, 2.0], [0.5, -1.0, 0.0]])},
        {"scores": torch.randn(5, 7, generator=rng)},
        {"scores": 1.5 * torch.randn(2, 3, 5, generator=rng)},
        {"scores": torch.tensor([[1000.0, 999.0, 998.0], [-1000.0, -999.0, -1000.0], [1000.0, -1000.0, 999.0]])},
        {"scores": mixed},
    ]


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
    flat = [torch.tensor(_softmax_list(row)) for row in scores.reshape(-1, scores.shape[-1]).tolist()]
    return torch.stack(flat).reshape(scores.shape)


def _softmax_list(row):
    powers = [math.exp(s - max(row)) for s in row]
    return [p / sum(powers) for p in powers]


def _by_log_sum(scores):
    top = scores.amax(-1, keepdim=True)
    return (scores - top - (scores - top).exp().sum(-1, keepdim=True).log()).exp()


def _keepdim_missing(scores, where):
    powers = (scores - scores.amax(-1, keepdim=where == "sum")).exp()
    return powers / powers.sum(-1, keepdim=where == "maximum")


_OVER_QUERIES = (
    "a softmax over the queries (dim=-2): your columns sum to 1, your rows should.",
    "normalize over the last dimension, dim=-1, where the keys are.",
)
_OVER_FIRST = (
    "a softmax over the first dimension (dim=0).",
    "normalize over the last dimension: dim=-1 is right for any number of axes.",
)
_OVER_SECOND = (
    "a softmax over dim=1. For a matrix that is the last dimension; with a batch in front it is the queries.",
    "count from the end: dim=-1 is right for any number of axes.",
)
_OVER_ALL = (
    "a softmax over everything at once: all your weights together sum to 1, each row should.",
    "sum over dim=-1 only, with keepdim=True.",
)
_NO_SHIFT = (
    "the formula as it stands: exp(1000) is infinite and exp(-1000) is 0, so rows become NaN.",
    "subtract the maximum of each row before the exponential; it changes no weight.",
)

SOFTMAX = Exercise(
    number="2.1",
    title="A softmax that does not overflow",
    points=3,
    inputs=_score_inputs,
    reference=lambda scores: torch.softmax(scores, dim=-1),
    returns=("weights",),
    off_limits=(
        "torch.softmax",
        "torch._softmax",
        "torch.Tensor.softmax",
        "torch.special.softmax",
        "torch.nn.functional.softmax",
        "torch.nn.functional.softmin",
        "torch.nn.functional.gumbel_softmax",
        "torch.log_softmax",
        "torch.Tensor.log_softmax",
        "torch.special.log_softmax",
        "torch.nn.functional.log_softmax",
        "torch.logsumexp",
        "torch.Tensor.logsumexp",
        "torch.special.logsumexp",
        "torch.logcumsumexp",
        "torch.Tensor.logcumsumexp",
        "torch.nn.functional.cross_entropy",
        "torch.nn.functional.scaled_dot_product_attention",
        "course_utils.attention.masked_softmax",
        "course_utils.attention.scaled_dot_product_attention",
    ),
    alternatives=(
        Alternative("shift by the row's maximum", lambda scores: _ratio(scores, -1, "own")),
        Alternative("max with keepdim", lambda scores: _by_pieces(scores, scores.max(dim=-1, keepdim=True).values)),
        Alternative("loop over rows", _softmax_rows),
        Alternative("log of the sum, by hand", _by_log_sum),
        Alternative(
            "one over a sum of differences",
            lambda scores: 1 / (scores[..., None, :] - scores[..., :, None]).exp().sum(-1),
        ),
        Alternative("a little added to the sum", lambda scores: _by_pieces(scores, scores.amax(-1, True), 1e-9)),
        Alternative("PyTorch's own", lambda scores: torch.softmax(scores, dim=-1), off_limits=True),
        Alternative("tensor method", lambda scores: scores.softmax(-1), off_limits=True),
        Alternative("functional", lambda scores: F.softmax(scores, dim=-1), off_limits=True),
        Alternative("module", lambda scores: torch.nn.Softmax(dim=-1)(scores), off_limits=True),
        Alternative("special", lambda scores: torch.special.softmax(scores, -1), off_limits=True),
        Alternative("log_softmax", lambda scores: torch.log_softmax(scores, -1).exp(), off_limits=True),
        Alternative(
            "logsumexp", lambda scores: (scores - torch.logsumexp(scores, -1, keepdim=True)).exp(), off_limits=True
        ),
        Alternative("the course's own", lambda scores: attention.masked_softmax(scores), off_limits=True),
    ),
    mistakes=(
        Mistake("no shift", _ratio, *_NO_SHIFT),
        Mistake("over the queries", lambda scores: _ratio(scores, -2, "own"), *_OVER_QUERIES),
        Mistake("over the queries, no shift", lambda scores: _ratio(scores, -2), *_OVER_QUERIES),
        Mistake("over the first", lambda scores: _ratio(scores, 0, "own"), *_OVER_FIRST),
        Mistake("over the first, no shift", lambda scores: _ratio(scores, 0), *_OVER_FIRST),
        Mistake("over dim 1", lambda scores: _ratio(scores, 1, "own"), *_OVER_SECOND),
        Mistake("over dim 1, no shift", lambda scores: _ratio(scores, 1), *_OVER_SECOND),
        Mistake("over everything", lambda scores: _ratio(scores, None, "own"), *_OVER_ALL),
        Mistake("over everything, no shift", lambda scores: _ratio(scores, None), *_OVER_ALL),
        Mistake(
            "shift by the maximum of everything",
            lambda scores: _ratio(scores, -1, "all"),
            "a shift by the largest score of the whole tensor: a row that lies far below it underflows to 0 / 0.",
            "every row needs its own maximum: amax(dim=-1, keepdim=True).",
        ),
        Mistake(
            "shift by the mean",
            lambda scores: _ratio(scores, -1, "mean"),
            "a shift by the mean or the minimum of the row; a score far above it still overflows.",
            "subtract the maximum: then no exponent is above 0.",
        ),
        Mistake(
            "shift in the numerator only",
            lambda scores: _by_pieces(scores, scores.amax(-1, True)) * _lost_factor(scores),
            "the maximum is subtracted in the numerator only; the sum below uses the scores as they were.",
            "shift first, then use the shifted scores in both places.",
        ),
        Mistake(
            "divided by the maximum",
            lambda scores: _ratio(scores / scores.amax(-1, keepdim=True)),
            "the scores were divided by their maximum. That is a temperature, and it changes the weights.",
            "subtract the maximum instead of dividing by it.",
        ),
        Mistake(
            "clamped",
            lambda scores: _ratio(scores.clamp(-80, 80)),
            "the scores were cut off, so 1000 and 999 get the same weight.",
            "keep the differences between the scores: shift the whole row instead.",
        ),
        Mistake(
            "nan replaced",
            lambda scores: torch.nan_to_num(_ratio(scores)),
            "NaN was replaced by a number afterwards; those rows do not sum to 1.",
            "avoid the overflow: subtract the maximum of each row before the exponential.",
        ),
        Mistake(
            "no exponential",
            lambda scores: scores / scores.sum(-1, keepdim=True),
            "the scores divided by their sum, without the exponential: negative scores give negative weights.",
            "take the exponential of the shifted scores first.",
        ),
        Mistake(
            "not normalized",
            lambda scores: (scores - scores.amax(-1, keepdim=True)).exp(),
            "the exponentials of the shifted scores, not yet divided by their sum.",
            "divide each row by its sum, so that it adds up to 1.",
        ),
        Mistake(
            "logarithm",
            lambda scores: torch.log_softmax(scores, -1),
            "the logarithm of the weights: all your values are negative.",
            "take the exponential once more, or leave the logarithm out.",
        ),
        *(
            Mistake(
                f"keepdim missing in {where}",
                functools.partial(_keepdim_missing, where=where),
                "a reduced axis is gone: without keepdim=True the maximum or the sum no longer lines up with its row.",
                "write keepdim=True in the maximum and in the sum.",
            )
            for where in ("maximum", "sum", "both")
        ),
        Mistake(
            "hard maximum",
            lambda scores: F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype),
            "a hard maximum: all the weight on the best key.",
            "a softmax gives every key a share, by the exponential of its score.",
        ),
    ),
    advice="print your weights.sum(dim=-1): every entry must be 1, for scores of 1000 as well.",
)


def _by_pieces(scores, shift, extra=0.0):
    powers = (scores - shift).exp()
    return powers / (powers.sum(-1, keepdim=True) + extra)


def _lost_factor(scores):
    shifted = (scores - scores.amax(-1, keepdim=True)).exp().sum(-1, keepdim=True)
    return shifted / scores.exp().sum(-1, keepdim=True)


# 2.2 ------------------------------------------------------------------------------------------------------------------


def _temperature_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    return [
        {"scores": torch.tensor([[0.0, 1.0, 2.0]]), "temperature": 2.0},
        {"scores": torch.randn(5, 7, generator=rng), "temperature": 0.7},
        {"scores": 2.0 * torch.randn(4, 6, generator=rng), "temperature": 2.5},
        {  # a weight of exactly 0, and a small one that counts
            "scores": torch.tensor([[6.0, 0.0, 5.9], [1.0, 1.0, 1.0], [0.0, 0.3, 0.35]]),
            "temperature": 0.05,
        },
    ]


def _tempered(change=lambda s, t: s / t, entropy=None, dim=-1):
    def answer(scores, temperature):
        weights = torch.softmax(change(scores, temperature), dim=dim)
        return weights, (entropy or _entropy)(weights)

    return answer


def _entropy(weights):
    return torch.special.entr(weights).sum(-1)


def _naive_entropy(weights):
    return -(weights * weights.log()).sum(-1)


def _entropy_with_epsilon(weights, epsilon):
    return -(weights * (weights + epsilon).log()).sum(-1)


def _entropy_clamped(weights, smallest):
    return -(weights * weights.clamp(min=smallest).log()).sum(-1)


def _tempered_rows(scores, temperature):
    rows = [_softmax_list([s / temperature for s in row]) for row in scores.tolist()]
    rows = [[w if w > 1e-40 else 0.0 for w in row] for row in rows]
    return torch.tensor(rows), torch.tensor([-sum(w * math.log(w) for w in row if w > 0) for row in rows])


def _log_softmax_entropy(scores, temperature):
    logs = torch.log_softmax(scores / temperature, dim=-1)
    return logs.exp(), -(logs.exp() * logs).sum(-1)


def _unshifted(scores, temperature):
    weights = _ratio(scores / temperature)
    return weights, _entropy(weights)


def _both(name, entropy, naive, looks_like, advice):
    """A mistake in the entropy, with and without the care for weights of 0."""
    return (
        Mistake(name, _tempered(entropy=entropy), looks_like, advice),
        Mistake(f"{name}, zeros unguarded", _tempered(entropy=naive), looks_like, advice),
    )


TEMPERATURE = Exercise(
    number="2.2",
    title="Temperature and entropy",
    points=3,
    inputs=_temperature_inputs,
    reference=_tempered(),
    returns=("weights", "entropy"),
    alternatives=(
        Alternative("entr", _tempered()),
        Alternative("xlogy", _tempered(entropy=lambda w: -torch.special.xlogy(w, w).sum(-1))),
        Alternative("masked_fill", _tempered(entropy=lambda w: -(w * w.masked_fill(w == 0, 1.0).log()).sum(-1))),
        Alternative("where", _tempered(entropy=lambda w: -torch.where(w > 0, w * w.log(), 0.0).sum(-1))),
        Alternative("clamp", _tempered(entropy=lambda w: -(w * w.clamp(min=1e-12).log()).sum(-1))),
        Alternative("small epsilon", _tempered(entropy=lambda w: -(w * (w + 1e-9).log()).sum(-1))),
        Alternative("nansum", _tempered(entropy=lambda w: -(w * w.log()).nansum(-1))),
        Alternative("log_softmax", _log_softmax_entropy),
        Alternative("loop", _tempered_rows),
        Alternative(
            "distribution",
            _tempered(entropy=lambda w: torch.distributions.Categorical(probs=w).entropy()),
        ),
        Alternative("multiplied by the inverse", _tempered(lambda s, t: (1 / t) * s)),
    ),
    mistakes=(
        Mistake(
            "multiplied",
            _tempered(lambda s, t: s * t),
            "the scores multiplied by the temperature: a high temperature makes your weights sharper.",
            "divide the scores by the temperature.",
        ),
        Mistake(
            "temperature not used",
            _tempered(lambda s, t: s),
            "a softmax of the scores as they are: the temperature plays no part.",
            "divide the scores by the temperature before the softmax.",
        ),
        Mistake(
            "temperature squared",
            _tempered(lambda s, t: s / t**2),
            "the scores divided by the square of the temperature.",
            "divide by T itself. (It is the bandwidth whose square is a temperature.)",
        ),
        Mistake(
            "temperature squared, zeros unguarded",
            _tempered(lambda s, t: s / t**2, _naive_entropy),
            "the scores divided by the square of the temperature.",
            "divide by T itself. (It is the bandwidth whose square is a temperature.)",
        ),
        Mistake(
            "root of the temperature",
            _tempered(lambda s, t: s / t**0.5),
            "the scores divided by the square root of the temperature.",
            "divide by T itself.",
        ),
        Mistake(
            "temperature after the softmax",
            lambda s, t: (torch.softmax(s, -1) / t, _entropy(torch.softmax(s, -1) / t)),
            "the weights were divided by the temperature after the softmax, so they no longer sum to 1.",
            "divide the scores, before the softmax.",
        ),
        Mistake(
            "after the softmax, normalized again",
            lambda s, t: (torch.softmax(s, -1), _entropy(torch.softmax(s, -1) / t)),
            "the entropy of numbers that do not sum to 1: the weights were divided by the temperature.",
            "divide the scores, before the softmax, and take the entropy of the weights you return.",
        ),
        Mistake(
            "over the queries",
            _tempered(dim=-2),
            "a softmax over the queries (dim=-2): your columns sum to 1, your rows should.",
            "normalize over the keys, dim=-1.",
        ),
        Mistake(
            "zeros unguarded",
            _tempered(entropy=_naive_entropy),
            "the entropy without care for a weight of 0: its logarithm is minus infinity, and 0 times that is NaN.",
            "replace weights of 0 by 1 before the logarithm (masked_fill), or use torch.special.entr.",
        ),
        Mistake(
            "softmax by hand, no shift",
            _unshifted,
            "a softmax without a shift: at a low temperature the divided scores are so large that exp overflows.",
            "subtract the maximum of each row first, as in 2.1, or call torch.softmax.",
        ),
        *(
            Mistake(
                f"epsilon {epsilon:g}",
                _tempered(entropy=functools.partial(_entropy_with_epsilon, epsilon=epsilon)),
                "a constant inside the logarithm that is large enough to change ordinary entropies.",
                "change the weights only where they are exactly 0, or add no more than 1e-9.",
            )
            for epsilon in (1e-2, 1e-3, 1e-4)
        ),
        *(
            Mistake(
                f"clamped at {smallest:g}",
                _tempered(entropy=functools.partial(_entropy_clamped, smallest=smallest)),
                "the weights were cut off from below at a number that ordinary weights fall short of.",
                "change the weights only where they are exactly 0, or clamp at 1e-9.",
            )
            for smallest in (1e-2, 1e-3)
        ),
        *_both(
            "sign lost",
            lambda w: -_entropy(w),
            lambda w: (w * w.log()).sum(-1),
            "the entropy without its minus sign: an entropy is never negative.",
            "the logarithm of a weight is negative; put the minus in front of the sum.",
        ),
        *_both(
            "base 2",
            lambda w: _entropy(w) / math.log(2),
            lambda w: -(w * w.log2()).sum(-1),
            "the entropy with the logarithm to base 2, in bits.",
            "use the natural logarithm, .log().",
        ),
        *_both(
            "mean over the keys",
            lambda w: torch.special.entr(w).mean(-1),
            lambda w: -(w * w.log()).mean(-1),
            "the mean of the terms: too small by the factor L_k.",
            "use .sum(dim=-1), not .mean.",
        ),
        *_both(
            "one number for all",
            lambda w: torch.special.entr(w).sum(),
            lambda w: -(w * w.log()).sum(),
            "one entropy for the whole matrix; asked for is one for each query.",
            "sum over the last dimension only.",
        ),
        *_both(
            "not weighted",
            lambda w: -w.masked_fill(w == 0, 1.0).log().sum(-1),
            lambda w: -w.log().sum(-1),
            "the sum of the logarithms, each not yet multiplied by its weight.",
            "each logarithm counts by its weight: w times log w.",
        ),
        *_both(
            "number of keys that count",
            lambda w: _entropy(w).exp(),
            lambda w: _naive_entropy(w).exp(),
            "the exponential of the entropy, the number of keys that count.",
            "return the entropy itself.",
        ),
        Mistake(
            "entropy without temperature",
            lambda s, t: (torch.softmax(s / t, -1), _entropy(torch.softmax(s, -1))),
            "right weights, but the entropy is that of the weights at temperature 1.",
            "compute the entropy from the weights that you return.",
        ),
    ),
    advice="for equal scores the weights must be 1 / L_k and the entropy log(L_k); try it with four zeros.",
)

# 2.3 ------------------------------------------------------------------------------------------------------------------


def _pool_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    oven = torch.tensor([[[40.0], [60.0], [140.0]]])
    cases = [{"weights": torch.tensor([[[0.2, 0.4, 0.4], [1.0, 0.0, 0.0]]]), "values": oven}]
    for batch, length_q, length_k, d_v in ((2, 5, 7, 3), (4, 3, 2, 6), (3, 4, 4, 2)):
        weights = torch.softmax(torch.randn(batch, length_q, length_k, generator=rng), -1)
        cases.append({"weights": weights, "values": torch.randn(batch, length_k, d_v, generator=rng)})
    return cases


def _pool_loop(weights, values):
    out = torch.zeros(weights.shape[0], weights.shape[1], values.shape[2])
    for b in range(weights.shape[0]):
        for i in range(weights.shape[1]):
            for j in range(values.shape[1]):
                out[b, i] += weights[b, i, j] * values[b, j]
    return out


POOL = Exercise(
    number="2.3",
    title="Pooling with given weights",
    points=2,
    inputs=_pool_inputs,
    reference=lambda weights, values: torch.bmm(weights, values),
    returns=("output",),
    alternatives=(
        Alternative("matmul", lambda weights, values: weights @ values),
        Alternative("three loops", _pool_loop),
        Alternative("einsum", lambda weights, values: torch.einsum("bij,bjd->bid", weights, values)),
        Alternative("broadcasting", lambda weights, values: (weights[..., None] * values[:, None]).sum(dim=2)),
        Alternative("transposed twice", lambda weights, values: (values.mT @ weights.mT).mT),
        Alternative("normalized again", lambda weights, values: (weights / weights.sum(dim=-1, keepdim=True)) @ values),
    ),
    mistakes=(
        Mistake(
            "weights transposed",
            lambda weights, values: weights.transpose(-2, -1) @ values,
            "the weights were transposed: the sum runs over the queries, where it should run over the keys.",
            "leave the weights as they are: their last axis, the keys, meets the second to last of the values.",
        ),
        Mistake(
            "sum over the queries",
            lambda weights, values: weights.sum(dim=1)[..., None] * values,
            "the weights were added up over the queries, and each value multiplied by its total.",
            "keep one row for each query: the sum runs over the keys.",
        ),
        Mistake(
            "weights ignored",
            lambda weights, values: values.mean(dim=1, keepdim=True).expand(-1, weights.shape[1], -1),
            "average pooling: every value counts alike, and the weights play no part.",
            "multiply each value by its weight before adding.",
        ),
        Mistake(
            "plain sum",
            lambda weights, values: values.sum(dim=1, keepdim=True).expand(-1, weights.shape[1], -1),
            "the sum of all values; the weights play no part.",
            "multiply each value by its weight before adding.",
        ),
        Mistake(
            "divided by the number of keys",
            lambda weights, values: weights @ values / weights.shape[-1],
            "the weighted sum divided by the number of keys. The weights sum to 1 already.",
            "leave the division (or the .mean) out: a weighted *sum* is asked for.",
        ),
        Mistake(
            "best key only",
            lambda weights, values: values[torch.arange(len(values))[:, None], weights.argmax(-1)],
            "the value of the key with the largest weight, alone: a hard lookup.",
            "let every value count by its weight.",
        ),
        Mistake(
            "softmax applied again",
            lambda weights, values: torch.softmax(weights, dim=-1) @ values,
            "a softmax of the weights: they are weights already, and a second softmax flattens them.",
            "use the weights as they are given.",
        ),
        Mistake(
            "normalized over the queries",
            lambda weights, values: (weights / weights.sum(dim=-2, keepdim=True)) @ values,
            "the weights were normalized over the queries first; their rows no longer sum to 1.",
            "use the weights as they are given.",
        ),
        Mistake(
            "first item's values for all",
            lambda weights, values: weights @ values[0],
            "every batch item was given the values of the first item.",
            "keep the batch axis of the values: use values, not values[0].",
        ),
        Mistake(
            "summed over the batch",
            lambda weights, values: torch.einsum("bij,bjd->id", weights, values),
            "one matrix for the whole batch: the items were added up.",
            "the batch index b must appear in the result as well.",
        ),
        Mistake(
            "nothing summed",
            lambda weights, values: weights[..., None] * values[:, None],
            "every value times its weight, of shape (B, L_q, L_k, d_v), not yet added up.",
            "sum over the axis of the keys, dim=2.",
        ),
        Mistake(
            "value entries summed",
            lambda weights, values: (weights[..., None] * values[:, None]).sum(dim=-1),
            "a sum over the entries of the values instead of over the keys.",
            "sum over the axis of the keys; d_v stays.",
        ),
    ),
    advice="write the three index loops first: out[b, i] = sum over j of weights[b, i, j] * values[b, j].",
)

# 2.4 ------------------------------------------------------------------------------------------------------------------


def _regression_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [
        {
            "x_query": torch.tensor([3.0, 1.0]),
            "x_key": torch.tensor([1.0, 2.0, 4.0]),
            "y_key": torch.tensor([40.0, 60.0, 140.0]),
            "bandwidth": 0.8,
        }
    ]
    for length_q, length_k, bandwidth in ((5, 7, 0.5), (9, 4, 1.7), (4, 4, 0.7)):
        x_key = 3 * torch.rand(length_k, generator=rng)
        y_key = torch.randn(length_k, generator=rng)
        x_query = 3 * torch.rand(length_q, generator=rng)
        cases.append({"x_query": x_query, "x_key": x_key, "y_key": y_key, "bandwidth": bandwidth})
    far = {"x_query": torch.tensor([0.5, 30.0]), "x_key": torch.tensor([0.0, 1.0, 3.0]), "bandwidth": 0.5}
    cases.append({**far, "y_key": torch.tensor([1.0, -1.0, 2.0]), "bandwidth": far["bandwidth"]})
    return [{name: case[name] for name in ("x_query", "x_key", "y_key", "bandwidth")} for case in cases]


def _gaussian(d, h):
    return -(d**2) / (2 * h**2)


def _regress(score=_gaussian, dim=-1, weigh=None):
    def answer(x_query, x_key, y_key, bandwidth):
        scores = score(x_query[:, None] - x_key[None, :], bandwidth)
        if weigh is not None:
            weights = weigh(scores)
        elif dim is None:
            weights = torch.softmax(scores.flatten(), 0).view(scores.shape)
        else:
            weights = torch.softmax(scores, dim)
        return weights @ y_key, weights

    return answer


def _regress_by_ratio(score=_gaussian):
    return _regress(score, weigh=_ratio)


def _regress_loop(x_query, x_key, y_key, bandwidth):
    scores = [[-((q - k) ** 2) / (2 * bandwidth**2) for k in x_key.tolist()] for q in x_query.tolist()]
    weights = torch.tensor([_softmax_list(row) for row in scores])
    return torch.stack([(row * y_key).sum() for row in weights]), weights


def _regress_shifted(x_query, x_key, y_key, bandwidth):
    squared = (x_query.unsqueeze(1) - x_key.unsqueeze(0)).square()
    kernel = torch.exp(-(squared - squared.amin(1, keepdim=True)) / (2 * bandwidth**2))
    weights = kernel / kernel.sum(1, keepdim=True)
    return torch.einsum("ij,j->i", weights, y_key), weights


def _regress_sdpa(x_query, x_key, y_key, bandwidth):
    scores = -(torch.cdist(x_query[:, None], x_key[:, None]) ** 2) / (2 * bandwidth**2)
    weights = F.softmax(scores, dim=1)
    return (weights * y_key).sum(-1), weights


def _kernel_mistake(name, score, looks_like, advice, ratio=True):
    """A wrong score under a softmax and, where that behaves differently, as kernel over sum."""
    found = [Mistake(name, _regress(score), looks_like, advice)]
    if ratio:
        found.append(Mistake(f"{name}, kernel over its sum", _regress_by_ratio(score), looks_like, advice))
    return found


_OVER_QUERIES_REGRESSION = (
    "the weights were normalized over the queries: your columns sum to 1, your rows should.",
    "normalize over the keys, dim=-1.",
)
_OVER_ALL_REGRESSION = (
    "the weights were normalized over everything: all together sum to 1, each row should.",
    "normalize over the keys, dim=-1.",
)

REGRESSION = Exercise(
    number="2.4",
    title="Nadaraya-Watson kernel regression",
    points=3,
    inputs=_regression_inputs,
    reference=attention.nadaraya_watson,
    returns=("prediction", "weights"),
    off_limits=("course_utils.attention.nadaraya_watson",),
    atol=2e-5,
    alternatives=(
        Alternative("softmax of the scores", _regress()),
        Alternative("loop", _regress_loop),
        Alternative("kernel, shifted by hand", _regress_shifted),
        Alternative("distances from cdist", _regress_sdpa),
        Alternative("scaled distance first", _regress(lambda d, h: -0.5 * (d / h) ** 2)),
        Alternative("temperature h squared", _regress(lambda d, h: (-(d**2) / 2) / h**2)),
        Alternative("the course's softmax", lambda q, k, y, h: _with_masked_softmax(q, k, y, h)),
        Alternative("the course's own", lambda q, k, y, h: attention.nadaraya_watson(q, k, y, h), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "kernel over its sum",
            _regress_by_ratio(),
            "the kernel divided by its sum. For the far query every exp underflows to 0, and 0 / 0 is NaN.",
            "use a softmax of the scores, which shifts each row by its own maximum first.",
        ),
        Mistake(
            "kernel over its sum, NaN set to 0",
            _regress(weigh=lambda scores: torch.nan_to_num(_ratio(scores))),
            "the kernel divided by its sum, with weights of 0 for the far query: there too they must sum to 1.",
            "use a softmax of the scores, which shifts each row by its own maximum first.",
        ),
        Mistake(
            "kernel clamped",
            _regress(weigh=lambda scores: _ratio(scores.clamp(min=-80))),
            "the kernel kept above 0, by a smallest value or a cut: the far query then weighs all keys alike.",
            "use a softmax of the scores: its nearest key must still win by far.",
        ),
        *_kernel_mistake(
            "bandwidth inverted",
            lambda d, h: -(d**2) / 2 * h**2,
            "the squared distance times the squared bandwidth: a wide bandwidth makes your weights sharper.",
            "in Python a / 2 * b multiplies by b; write / (2 * bandwidth**2).",
            ratio=False,
        ),
        *_kernel_mistake(
            "bandwidth not squared",
            lambda d, h: -(d**2) / (2 * h),
            "the squared distance over twice the bandwidth: the bandwidth itself is not squared.",
            "write bandwidth**2: distance over bandwidth is squared as a whole.",
        ),
        *_kernel_mistake(
            "bandwidth not used",
            lambda d, h: -(d**2) / 2,
            "minus half the squared distance: the bandwidth plays no part.",
            "divide by bandwidth**2 as well.",
        ),
        *_kernel_mistake(
            "two lost",
            lambda d, h: -(d**2) / h**2,
            "minus the squared distance over the squared bandwidth: the 2 in the denominator is missing.",
            "divide by 2 * bandwidth**2.",
        ),
        *_kernel_mistake(
            "two squared",
            lambda d, h: -(d**2) / (2 * h) ** 2,
            "twice the bandwidth was squared as a whole, which divides by 4 h squared.",
            "square the bandwidth alone: 2 * bandwidth**2.",
        ),
        *_kernel_mistake(
            "distance over bandwidth",
            lambda d, h: -d.abs() / h,
            "a kernel of the distance over the bandwidth, not of its square over two: it has a sharp peak.",
            "square the distance: -(distance**2) / (2 * bandwidth**2).",
            ratio=False,
        ),
        *_kernel_mistake(
            "distance not squared",
            lambda d, h: -d.abs() / (2 * h**2),
            "a kernel of the distance; its square is missing.",
            "square the distance: -(distance**2) / (2 * bandwidth**2).",
            ratio=False,
        ),
        Mistake(
            "difference neither squared nor absolute",
            _regress(lambda d, h: -d / (2 * h**2)),
            "a score of the signed difference: keys on one side of the query win, however far they are.",
            "square the difference: near on either side must count alike.",
        ),
        Mistake(
            "sign lost",
            _regress(lambda d, h: d**2 / (2 * h**2)),
            "the score without its minus sign: the farthest keys get the most weight.",
            "put the minus in front; the nearest key has the largest score.",
        ),
        Mistake(
            "sign inside the square",
            _regress_by_ratio(lambda d, h: (-d) ** 2 / (2 * h**2)),
            "the score without its minus sign: a minus inside the square is lost, and the kernel overflows.",
            "put the minus in front of the square: -(distance**2).",
        ),
        Mistake("over the queries", _regress(dim=0), *_OVER_QUERIES_REGRESSION),
        Mistake("over everything", _regress(dim=None), *_OVER_ALL_REGRESSION),
        Mistake(
            "not normalized",
            lambda q, k, y, h: (_kernel(q, k, h) @ y, _kernel(q, k, h)),
            "the kernel itself: it was not divided by its sum, so the rows do not sum to 1.",
            "use a softmax of the scores over the keys.",
        ),
        Mistake(
            "softmax of the kernel",
            _regress(lambda d, h: _gaussian(d, h).exp()),
            "a softmax of the kernel: the exponential was taken twice.",
            "the softmax takes the exponential itself; give it the scores.",
        ),
        Mistake(
            "weights transposed",
            lambda q, k, y, h: (attention.nadaraya_watson(q, k, y, h)[0], attention.nadaraya_watson(q, k, y, h)[1].T),
            "right predictions, but the weights are transposed: your rows are keys.",
            "return the weights as (L_q, L_k), one row for each query.",
        ),
        Mistake(
            "scores returned",
            lambda q, k, y, h: (attention.nadaraya_watson(q, k, y, h)[0], _gaussian(q[:, None] - k, h)),
            "right predictions, but the scores stand where the weights should.",
            "return the weights, the softmax of the scores.",
        ),
        Mistake(
            "nearest key",
            lambda q, k, y, h: _hard((q[:, None] - k).abs().argmin(-1), y),
            "the value of the nearest key alone: a hard lookup.",
            "let every key count, by the softmax of its score.",
        ),
        Mistake(
            "average pooling",
            _regress(lambda d, h: torch.zeros_like(d)),
            "average pooling: all your weights are equal, whatever the query.",
            "the score depends on the distance from the query to the key.",
        ),
        Mistake(
            "queries and keys paired",
            lambda q, k, y, h: (q - k, q - k),
            "query i minus key i: it needs as many queries as keys, and compares each with one key only.",
            "make a column of the queries and a row of the keys: x_query[:, None] - x_key[None, :].",
        ),
    ),
    advice="for the query 3 and the keys 1, 2, 4 with bandwidth 1 the scores are -2, -0.5, -0.5; print yours.",
)


def _kernel(x_query, x_key, bandwidth):
    return _gaussian(x_query[:, None] - x_key, bandwidth).exp()


def _hard(chosen, y_key):
    weights = F.one_hot(chosen, len(y_key)).to(y_key.dtype)
    return weights @ y_key, weights


def _with_masked_softmax(x_query, x_key, y_key, bandwidth):
    weights = attention.masked_softmax(_gaussian(x_query[:, None] - x_key, bandwidth))
    return weights @ y_key, weights


# 2.5 ------------------------------------------------------------------------------------------------------------------

_ADDITIVE_NAMES = ("query", "key", "value", "W_q", "W_k", "w_v")


def _additive_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    #    B, L_q, L_k, d_q, d_k, d_hidden, d_v; the last case has d_q = d_k = d_hidden and L_q = L_k
    for b, l_q, l_k, d_q, d_k, d_h, d_v in (
        (1, 2, 3, 5, 2, 4, 1),
        (2, 5, 7, 3, 4, 6, 8),
        (3, 4, 2, 6, 5, 3, 2),
        (2, 3, 3, 4, 4, 4, 4),
    ):
        shapes = ((b, l_q, d_q), (b, l_k, d_k), (b, l_k, d_v), (d_h, d_q), (d_h, d_k), (d_h,))
        case = {name: torch.randn(shape, generator=rng) for name, shape in zip(_ADDITIVE_NAMES, shapes, strict=True)}
        case["W_q"], case["W_k"] = 1.2 * case["W_q"] / d_q**0.5, 1.2 * case["W_k"] / d_k**0.5
        cases.append(case)
    return cases


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
        return weights @ value, weights

    return answer


def _right_scores(query, key, W_q, W_k, w_v):
    return torch.tanh(_every_pair(query, key, W_q, W_k)) @ w_v


def _additive_loop(query, key, value, W_q, W_k, w_v):
    scores = torch.zeros(query.shape[0], query.shape[1], key.shape[1])
    for b in range(query.shape[0]):
        for i in range(query.shape[1]):
            for j in range(key.shape[1]):
                scores[b, i, j] = w_v @ torch.tanh(W_q @ query[b, i] + W_k @ key[b, j])
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights, value), weights


def _additive_einsum(query, key, value, W_q, W_k, w_v):
    left, right = torch.einsum("bid,hd->bih", query, W_q), torch.einsum("bjd,hd->bjh", key, W_k)
    weights = torch.einsum("bijh,h->bij", (left.unsqueeze(2) + right.unsqueeze(1)).tanh(), w_v).softmax(-1)
    return torch.einsum("bij,bjd->bid", weights, value), weights


def _additive_concatenated(query, key, value, W_q, W_k, w_v):
    b, l_q, l_k = query.shape[0], query.shape[1], key.shape[1]
    pairs = torch.cat([query[:, :, None].expand(b, l_q, l_k, -1), key[:, None].expand(b, l_q, l_k, -1)], dim=-1)
    weights = F.softmax(torch.tanh(F.linear(pairs, torch.cat([W_q, W_k], dim=1))) @ w_v, dim=-1)
    return weights @ value, weights


def _second_loop_answer(query, key, value, W_q, W_k, w_v):
    rows = [torch.tanh((query[:, i] @ W_q.T)[:, None] + key @ W_k.T) @ w_v for i in range(query.shape[1])]
    weights = torch.stack(rows, dim=1).softmax(-1)
    return weights @ value, weights


ADDITIVE = Exercise(
    number="2.5",
    title="Additive attention",
    points=4,
    inputs=_additive_inputs,
    reference=_additive_layer,
    returns=("output", "weights"),
    off_limits=("course_utils.attention.AdditiveAttention",),
    atol=2e-5,
    alternatives=(
        Alternative("broadcasting", _additive()),
        Alternative("three loops", _additive_loop),
        Alternative("one loop over the queries", _second_loop_answer),
        Alternative("einsum", _additive_einsum),
        Alternative("concatenated pairs, one matrix", _additive_concatenated),
        Alternative(
            "w_v as a column",
            _additive(lambda q, k, W_q, W_k, w_v: (_every_pair(q, k, W_q, W_k).tanh() @ w_v[:, None]).squeeze(-1)),
        ),
        Alternative(
            "w_v by product and sum",
            _additive(lambda q, k, W_q, W_k, w_v: (w_v * _every_pair(q, k, W_q, W_k).tanh()).sum(dim=-1)),
        ),
        Alternative("the course's own", lambda *arguments: _additive_layer(*arguments), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "no tanh",
            _additive(lambda q, k, W_q, W_k, w_v: _every_pair(q, k, W_q, W_k) @ w_v),
            "a score without a tanh around the sum: the query adds the same to all keys, so all your rows are equal.",
            "put torch.tanh around the sum of the two projections, before w_v.",
        ),
        Mistake(
            "tanh of each",
            _additive(lambda q, k, W_q, W_k, w_v: ((q @ W_q.T).tanh()[:, :, None] + (k @ W_k.T).tanh()[:, None]) @ w_v),
            "a score in which the query plays no part: left out, or outside the tanh of the key, where it cancels.",
            "add the two projections first, then take tanh of their sum.",
        ),
        Mistake(
            "tanh of the score",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh(_every_pair(q, k, W_q, W_k) @ w_v)),
            "tanh of the finished score; it belongs inside, on the hidden layer.",
            "take tanh before the product with w_v.",
        ),
        Mistake(
            "relu",
            _additive(lambda q, k, W_q, W_k, w_v: torch.relu(_every_pair(q, k, W_q, W_k)) @ w_v),
            "a ReLU in the place of the tanh.",
            "use torch.tanh.",
        ),
        Mistake(
            "sigmoid",
            _additive(lambda q, k, W_q, W_k, w_v: torch.sigmoid(_every_pair(q, k, W_q, W_k)) @ w_v),
            "a sigmoid in the place of the tanh.",
            "use torch.tanh.",
        ),
        Mistake(
            "hidden units added up",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh(_every_pair(q, k, W_q, W_k)).sum(-1)),
            "the hidden units were added up, where w_v should project them to one number.",
            "multiply the hidden layer with w_v: every unit has a weight of its own.",
        ),
        Mistake(
            "mean of the hidden units",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh(_every_pair(q, k, W_q, W_k)).mean(-1)),
            "the mean of the hidden units, where w_v should project them to one number.",
            "multiply the hidden layer with w_v: every unit has a weight of its own.",
        ),
        Mistake(
            "query and key added without projection",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh(q[:, :, None] + k[:, None]) @ w_v),
            "query and key were added as they are. Their sizes differ, so they must be projected to d_hidden first.",
            "compute query @ W_q.T and key @ W_k.T, and add those.",
        ),
        Mistake(
            "cut to one size",
            _additive(
                lambda q, k, W_q, W_k, w_v: torch.tanh(_fit(q, len(w_v))[:, :, None] + _fit(k, len(w_v))[:, None]) @ w_v
            ),
            "query and key were padded or cut to the size d_hidden, where W_q and W_k should project them.",
            "compute query @ W_q.T and key @ W_k.T, and add those.",
        ),
        Mistake(
            "projections multiplied",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh((q @ W_q.T)[:, :, None] * (k @ W_k.T)[:, None]) @ w_v),
            "the two projections were multiplied, where they should be added.",
            "the additive score adds them: W_q q + W_k k.",
        ),
        Mistake(
            "projections subtracted",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh((q @ W_q.T)[:, :, None] - (k @ W_k.T)[:, None]) @ w_v),
            "the projection of the key was subtracted, where it should be added.",
            "the additive score adds them: W_q q + W_k k.",
        ),
        Mistake(
            "dot product of the projections",
            _additive(lambda q, k, W_q, W_k, w_v: (q @ W_q.T) @ (k @ W_k.T).transpose(-2, -1)),
            "the dot product of the two projections: that is the other score.",
            "add the projections, take tanh, then multiply with w_v.",
        ),
        Mistake(
            "key left out",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh((q @ W_q.T)[:, :, None] + 0 * (k @ W_k.T)[:, None]) @ w_v),
            "a score of the query alone: it is the same for all keys, so your weights are uniform.",
            "add every projected key to the projected query, inside the tanh.",
        ),
        Mistake(
            "scaled",
            _additive(lambda q, k, W_q, W_k, w_v: _right_scores(q, k, W_q, W_k, w_v) / len(w_v) ** 0.5),
            "the scores divided by the root of d_hidden. Scaling belongs to the dot product, in lesson 04.",
            "leave the division out.",
        ),
        Mistake(
            "over the queries",
            _additive(dim=-2),
            "a softmax over the queries (dim=-2): your columns sum to 1, your rows should.",
            "normalize over the keys, dim=-1.",
        ),
        Mistake(
            "over everything",
            _additive(dim=None),
            "a softmax over queries and keys together: all weights of an item sum to 1, each row should.",
            "normalize over the keys, dim=-1.",
        ),
        Mistake(
            "over the batch",
            _additive(dim=0),
            "a softmax over the batch (dim=0): the items compete with one another.",
            "normalize over the keys, dim=-1.",
        ),
        Mistake(
            "softmax before w_v",
            lambda query, key, value, W_q, W_k, w_v: _pooled(
                torch.softmax(torch.tanh(_every_pair(query, key, W_q, W_k)), dim=-1) @ w_v, value
            ),
            "a softmax over the hidden units, before the product with w_v.",
            "first make one score for each pair, then take the softmax over the keys.",
        ),
        Mistake(
            "no softmax",
            lambda query, key, value, W_q, W_k, w_v: _pooled(_right_scores(query, key, W_q, W_k, w_v), value),
            "the scores themselves were used as weights: there is no softmax.",
            "take the softmax of the scores over the keys, dim=-1.",
        ),
        Mistake(
            "one query with one key",
            lambda query, key, value, W_q, W_k, w_v: query @ W_q.T + key @ W_k.T,
            "query i was added to key i only: without new axes, as many keys as queries are needed.",
            "add axes: (B, L_q, 1, d_hidden) plus (B, 1, L_k, d_hidden).",
        ),
        Mistake(
            "new axes exchanged",
            _additive(lambda q, k, W_q, W_k, w_v: _right_scores(q, k, W_q, W_k, w_v).transpose(-2, -1)),
            "the two new axes are exchanged: your scores have shape (B, L_k, L_q), keys first.",
            "the queries get their new axis behind them, [:, :, None], the keys before them, [:, None].",
        ),
        Mistake(
            "matrices exchanged",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh((q @ W_k.T)[:, :, None] + (k @ W_q.T)[:, None]) @ w_v),
            "the queries were multiplied with W_k, or the keys with W_q: the sizes do not fit.",
            "W_q belongs to the query, W_k to the key.",
        ),
        Mistake(
            "keys pooled",
            lambda query, key, value, *arrays: _second_loop_answer(query, key, key, *arrays),
            "the weighted sum of the keys; asked for is that of the values.",
            "the keys decide the weights; what is added up are the values: weights @ value.",
        ),
        Mistake(
            "matrices not transposed",
            _additive(lambda q, k, W_q, W_k, w_v: torch.tanh((q @ W_q)[:, :, None] + (k @ W_k)[:, None]) @ w_v),
            "W_q was not transposed. It has shape (d_hidden, d_q), for a column vector; your queries are rows.",
            "write query @ W_q.T, and the same for the keys.",
        ),
        Mistake(
            "scores returned",
            lambda *arguments: (
                _additive()(*arguments)[0],
                _right_scores(arguments[0], arguments[1], *arguments[3:]),
            ),
            "right output, but the scores stand where the weights should.",
            "return the weights, the softmax of the scores.",
        ),
    ),
    advice="print the shapes: two projections, then (B, L_q, L_k, d_hidden), then the scores (B, L_q, L_k).",
)


def _fit(tensor, size):
    return F.pad(tensor, (0, size - tensor.shape[-1]))


def _pooled(weights, value):
    return weights @ value, weights


# 2.6 ------------------------------------------------------------------------------------------------------------------


def _bug_inputs(seed):
    rng = torch.Generator().manual_seed(seed + 1)
    cases = []
    for b, l_q, l_k, d, d_v in ((1, 2, 3, 2, 1), (2, 5, 7, 3, 4), (4, 3, 2, 6, 5), (3, 3, 3, 3, 3)):
        query, key = torch.randn(b, l_q, d, generator=rng), torch.randn(b, l_k, d, generator=rng) / d**0.5
        cases.append({"query": query, "key": key, "value": torch.randn(b, l_k, d_v, generator=rng)})
    return cases


def _attended(weigh):
    """An answer from ``weigh(scores)``."""
    return lambda query, key, value: _pooled(weigh(query @ key.transpose(-2, -1)), value)


def _attend_loop(query, key, value):
    rows = [[[float(q @ k) for k in key[b]] for q in query[b]] for b in range(len(query))]
    weights = torch.tensor([[_softmax_list(row) for row in item] for item in rows])
    return torch.einsum("bij,bjd->bid", weights, value), weights


BUG = Exercise(
    number="2.6",
    title="Find the bug",
    points=3,
    inputs=_bug_inputs,
    reference=lambda query, key, value: attention.scaled_dot_product_attention(query, key, value, scale=1.0),
    returns=("output", "weights"),
    off_limits=("course_utils.attention.scaled_dot_product_attention",),
    alternatives=(
        Alternative("as given, dim=-1", _attended(lambda s: torch.softmax(s, dim=-1))),
        Alternative("dim=2", _attended(lambda s: torch.softmax(s, dim=2))),
        Alternative("masked_softmax", _attended(lambda s: attention.masked_softmax(s))),
        Alternative("softmax of 2.1", _attended(lambda s: _ratio(s, -1, "own"))),
        Alternative("transposed, softmax, transposed back", _attended(lambda s: s.mT.softmax(-2).mT)),
        Alternative("einsum and loops", _attend_loop),
        Alternative(
            "output from PyTorch's function",
            lambda query, key, value: (
                F.scaled_dot_product_attention(query, key, value, scale=1.0),
                (query @ key.mT).softmax(-1),
            ),
        ),
        Alternative(
            "the course's own",
            lambda query, key, value: attention.scaled_dot_product_attention(query, key, value, scale=1.0),
            off_limits=True,
        ),
    ),
    mistakes=(
        Mistake(
            "still over the queries",
            _attended(lambda s: torch.softmax(s, dim=-2)),
            "the bug is still there: a softmax over the queries (dim=-2). Your columns sum to 1, your rows should.",
            "each query shares out its weight among the keys: dim=-1.",
        ),
        Mistake(
            "over everything",
            _attended(lambda s: s.flatten(1).softmax(-1).view(s.shape)),
            "now the softmax runs over queries and keys together: all weights of an item sum to 1.",
            "normalize over the keys alone, dim=-1.",
        ),
        Mistake(
            "over the batch",
            _attended(lambda s: torch.softmax(s, dim=0)),
            "now the softmax runs over the batch (dim=0): the items compete with one another.",
            "normalize over the keys, dim=-1.",
        ),
        Mistake(
            "rows divided afterwards",
            _attended(lambda s: _rows_to_one(s.softmax(-2))),
            "still a softmax over the queries, its rows divided by their sums: they sum to 1, and are wrong.",
            "mend the softmax itself: dim=-1, and no division behind it.",
        ),
        Mistake(
            "two softmaxes",
            _attended(lambda s: s.softmax(-2).softmax(-1)),
            "a second softmax was put behind the first. The rows sum to 1, but the weights are nearly flat.",
            "replace the first softmax; do not add another.",
        ),
        Mistake(
            "scaled",
            lambda query, key, value: attention.scaled_dot_product_attention(query, key, value),
            "the dimension is mended, but now the scores are divided by the root of d. That comes in lesson 04.",
            "change the dimension of the softmax only.",
        ),
        Mistake(
            "weights transposed",
            _attended(lambda s: s.softmax(-2).transpose(-2, -1)),
            "the scores or the weights were transposed: the rows sum to 1, but they are rows of keys.",
            "keep (B, L_q, L_k), and normalize over its last axis.",
        ),
        Mistake(
            "hard maximum",
            _attended(lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype)),
            "a hard maximum: all the weight on the best key.",
            "keep the softmax, over dim=-1.",
        ),
        Mistake(
            "keys pooled",
            lambda query, key, value: _pooled((query @ key.transpose(-2, -1)).softmax(-1), key),
            "the softmax is mended, but now the keys are added up instead of the values.",
            "keep weights @ value as it was.",
        ),
        Mistake(
            "divided by the sum of the output",
            lambda query, key, value: _mend_by_tens(query, key, value),
            "the output was divided by the row sums of the weights, while the softmax still runs over the queries.",
            "mend the softmax itself: dim=-1.",
        ),
    ),
    advice="print weights.sum(dim=-1): it must be 1 for every query.",
)


def _rows_to_one(weights):
    return weights / weights.sum(-1, keepdim=True)


def _mend_by_tens(query, key, value):
    weights = (query @ key.transpose(-2, -1)).softmax(-2)
    return weights @ value / weights.sum(-1, keepdim=True), weights


# 2.7, 2.8 -------------------------------------------------------------------------------------------------------------

HIGH_TEMPERATURE = Quiz(
    number="2.7",
    title="A high temperature",
    points=1,
    right="a",
    options={
        "a": Option(
            "They become nearly equal.",
            "divided by 100, the scores differ by at most 0.06, and a softmax sees differences only.",
        ),
        "b": Option(
            "Nearly all weight goes to the best key.",
            "that is what a low temperature does: dividing by 0.01 makes the differences a hundred times larger.",
        ),
        "c": Option(
            "Nothing: a softmax does not notice a common factor.",
            "it does not notice a common shift. A factor changes the differences between scores, and so the weights.",
        ),
        "d": Option(
            "They all shrink, and no longer sum to 1.",
            "the scores are divided before the softmax, which makes the weights sum to 1 whatever it gets.",
        ),
    },
)

NO_TANH = Quiz(
    number="2.8",
    title="An additive score without its tanh",
    points=1,
    right="c",
    options={
        "a": Option(
            "They no longer sum to 1.",
            "the softmax sees to the sum, whatever the scores are.",
        ),
        "b": Option(
            "They are those of a dot product of query and key.",
            "a dot product multiplies entries of the query with entries of the key; here they are only added.",
        ),
        "c": Option(
            "They are the same for every query.",
            "the query adds the same number to the scores of all keys, and a softmax does not notice a shift.",
        ),
        "d": Option(
            "They are all equal: average pooling.",
            "the part of the key, w_v times W_k k, is still there, and differs from key to key.",
        ),
    },
)

EXERCISES = (SOFTMAX, TEMPERATURE, POOL, REGRESSION, ADDITIVE, BUG, HIGH_TEMPERATURE, NO_TANH)
