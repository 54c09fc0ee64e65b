"""Nadaraya-Watson kernel regression."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.attention import shared
from ...kit.shapes import same, without_new_axes


def kernel_regression(
    x_query, x_key, y_key, bandwidth, *, power=torch.square, sign=torch.neg,
    width=lambda x, h: x / (2 * h**2), weigh=lambda s: s.softmax(-1), given=lambda weights, scores: weights,
):  # fmt: skip
    """Predictions and the weights of the keys."""
    scores = width(sign(power(x_query[:, None] - x_key)), bandwidth)
    weights = weigh(scores)
    return weights @ y_key, given(weights, scores)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    x_key, y_key = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([40.0, 60.0, 140.0])
    cases = [Case(x_query=torch.tensor([3.0, 1.0]), x_key=x_key, y_key=y_key, bandwidth=0.8)]
    for L_q, L_k, bandwidth in ((5, 7, 0.5), (9, 4, 1.7), (4, 4, 0.7), (5, 7, 0.6)):
        dtype = torch.float64 if L_k == 4 else torch.float32
        x_query, x_key, y_key = (torch.rand(n, generator=rng, dtype=dtype) for n in (L_q, L_k, L_k))
        cases.append(Case(x_query=3 * x_query, x_key=3 * x_key, y_key=4 * y_key - 2, bandwidth=bandwidth))
    x_query, x_key, y_key = torch.tensor([[0.5, 30.0, 2.0], [0.0, 1.0, 3.0], [1.0, -1.0, 2.0]])
    far = {"x_query": x_query[:2], "x_key": x_key, "y_key": y_key, "bandwidth": 0.5}
    return [*cases, Case("a query is far away from every key", **far, values_only=True)]


_SOFTMAX = "use a softmax of the scores, which shifts each row by its own maximum first."
_SQUARE = "square the distance: -(distance**2) / (2 * bandwidth**2)."

EXERCISE = Exercise(
    answer="kernel_regression", cases=_cases, reference=kernel_regression, returns=("prediction", "weights"), atol=2e-5,
    symptoms=(without_new_axes("x_query", "x_key", -1),), faults=(
        Fault("kernel over its sum", "the kernel divided by its sum, no row shifted by its own maximum: 0 / 0 for the far query.",
              _SOFTMAX, weigh=lambda s: shared(s.exp())),
        Fault("NaN set to 0", "the kernel divided by its sum, weights of 0 for the far query.", _SOFTMAX,
              weigh=lambda s: torch.nan_to_num(shared(s.exp()))),
        Fault("kernel clamped", "the far query weighs all keys alike: something was put where exp is 0.",
              "use a softmax: its nearest key must still win.", weigh=lambda s: shared(s.clamp(min=-80).exp())),
        Fault("not normalized", "the kernel itself: it was not divided by its sum, so the rows do not sum to 1.",
              "use a softmax of the scores over the keys.", weigh=torch.exp),
        Fault("softmax of the kernel", "a softmax of the kernel: the exponential was taken twice.",
              "the softmax takes the exponential itself; give it the scores.", weigh=lambda s: s.exp().softmax(-1)),
        Fault("over the queries", "normalized over the queries: your columns sum to 1, your rows should.",
              "normalize over the keys, dim=-1.", weigh=lambda s: s.softmax(0)),
        Fault("over everything", "normalized over everything: all together sum to 1, each row should.",
              "normalize over the keys, dim=-1.", weigh=lambda s: s.flatten().softmax(-1).view(s.shape)),
        Fault("nearest key", "the value of the nearest key alone: a hard lookup.", "let every key count.",
              weigh=lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype)),
        Fault("bandwidth inverted", "multiplied by the squared bandwidth: a wide bandwidth makes your weights sharper.",
              "in Python a / 2 * b multiplies by b; write / (2 * bandwidth**2).", width=lambda x, h: x / 2 * h**2),
        Fault("bandwidth not squared", "the bandwidth itself is not squared.",
              "write bandwidth**2: distance over bandwidth is squared as a whole.", width=lambda x, h: x / (2 * h)),
        Fault("bandwidth not used", "the bandwidth plays no part.", "divide by bandwidth**2 as well.",
              width=lambda x, h: x / 2),
        Fault("two lost", "the 2 in the denominator is missing.", "divide by 2 * bandwidth**2.",
              width=lambda x, h: x / h**2),
        Fault("two squared", "twice the bandwidth was squared as a whole, which divides by 4 h squared.",
              "square the bandwidth alone: 2 * bandwidth**2.", width=lambda x, h: x / (2 * h) ** 2),
        Fault("distance over bandwidth", "a kernel of the distance over the bandwidth: it has a sharp peak.", _SQUARE,
              power=torch.abs, width=lambda x, h: x / h),
        Fault("distance not squared", "a kernel of the distance; its square is missing.", _SQUARE, power=torch.abs),
        Fault("not squared, not absolute", "a score of the signed difference: keys on one side win, however far.",
              "square the difference: near on either side must count alike.", power=same),
        Fault("sign lost", "no minus sign, or one inside the square: the farthest keys win.",
              "put the minus in front of the square, -(distance**2).", sign=same),
        Fault("scores returned", "the scores stand where the weights should.", "return their softmax.",
              given=lambda weights, scores: scores),
    ), advice="for the query 3 and the keys 1, 2, 4 with bandwidth 1 the scores are -2, -0.5, -0.5; print yours.",
)  # fmt: skip
