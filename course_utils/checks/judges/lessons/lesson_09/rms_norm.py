"""RMSNorm as a function."""

import functools

import torch.nn.functional as F

from ...exercise import Exercise, Fault
from ...kit import norms
from ...kit.parts import faults_of


def _rms_norm(
    x, weight, eps, *, over=norms.LAST, before=lambda x, weight, over: x, above=lambda x, over: x,
    spread=norms.mean_square, small=lambda eps: eps, root=lambda square, eps: (square + eps).sqrt(),
    scale=lambda y, weight, bias: y * weight,
):  # fmt: skip
    x = before(x, weight, over)
    return scale(above(x, over) / root(spread(x, None, over), small(eps)), weight, None)


_NO_MEAN = "RMSNorm takes no mean off: x divided by the root of the mean of x squared."
_ITSELF = "square x itself, not its distance from the mean."

EXERCISE = Exercise(
    answer="rms_norm", cases=functools.partial(norms.norm_cases, with_bias=False), reference=_rms_norm,
    returns=("output",), faults=(
        *norms.ROOT_FAULTS,
        Fault("mean taken off", "the mean was taken off: that is LayerNorm without a bias.", _NO_MEAN,
            before=lambda x, weight, over: x - x.mean(**over)),
        Fault("mean taken off above only", "the mean was taken off above the line, and left in below it.", _NO_MEAN,
            above=lambda x, over: x - x.mean(**over)),
        *faults_of("spread", "square, average over the features, root.",
            ("divided by the deviation", "x divided by its standard deviation, from which the mean was taken off.",
             lambda x, mean, over: x.var(**over, unbiased=False), _ITSELF),
            ("divided by the unbiased deviation", "x divided by its standard deviation (with d - 1), from which the "
             "mean was taken off.", lambda x, mean, over: x.var(**over), _ITSELF),
            ("sum for the mean", "the sum of the squares instead of their mean: each vector has length 1, and its "
             "entries shrink as d grows.", lambda x, mean, over: x.square().sum(**over)),
            ("d - 1", "the sum of the squares divided by d - 1.",
             lambda x, mean, over: x.square().sum(**over) / (x.shape[-1] - 1), "divide by d: it is a plain mean."),
            ("divided by the positions", "the sum of the squares divided by x.shape[1], the number of positions.",
             lambda x, mean, over: x.square().sum(**over) / x.shape[1], "divide by d_model, x.shape[-1]: it is a plain mean."),
            ("mean size", "the mean of the absolute values instead of the root mean square.",
             lambda x, mean, over: x.abs().mean(**over).square())),
        Fault("epsilon divided too", norms.DIVIDED_TOO, norms.INSIDE,
            whole=lambda x, weight, eps: x / ((x.square().sum(-1, keepdim=True) + eps) / x.shape[-1]).sqrt() * weight),
        Fault("root before the mean", "the root is taken before the mean: that gives nearly the mean of the absolute values.",
            "square, average over the features, add eps, and only then take the root.",
            whole=lambda x, weight, eps: x / (x.square() + eps).sqrt().mean(-1, keepdim=True) * weight),
        Fault("mean size, epsilon outside", "the mean of the absolute values instead of the root mean square.",
            "square, average over the features, root.",
            whole=lambda x, weight, eps: x / (x.abs().mean(-1, keepdim=True) + eps) * weight),
        Fault("epsilon after the inverse", "epsilon was added to 1 / root, not below the root.", norms.INSIDE,
            root=lambda square, eps: 1 / (square.rsqrt() + eps)),
        Fault("F.normalize", "each vector divided by its length, as F.normalize does: eps was not added.", norms.INSIDE,
            whole=lambda x, weight, eps: F.normalize(x, dim=-1) * x.shape[-1] ** 0.5 * weight),
        *norms.WEIGHT_FAULTS,
        Fault("weight added", "the weight was added.", "multiply by it.", scale=lambda y, weight, bias: y + weight),
        Fault("weighed first", "x was multiplied by the weight before the mean square was taken: it enters the root "
            "too.", "normalize x itself; multiply by weight at the end.", before=lambda x, weight, over: x * weight,
            scale=lambda y, weight, bias: y),
        *norms.OVER_FAULTS,
    ), advice="with weight 1 and a tiny eps each vector must come out with mean square 1, and its mean need not be 0.", rtol=5e-4,
)  # fmt: skip
