"""LayerNorm as a function."""

import functools

from ...exercise import Exercise, Fault
from ...kit import norms


def _mean(x, axis, keep):
    return x.mean(axis, keepdim=keep)


def _variance(x, mean, axis, keep):
    return (x - mean).pow(2).mean(axis, keepdim=keep)


def _layer_norm(
    x, weight, bias, eps, *,
    axis=-1,
    keep=True,
    mean=_mean,
    center=lambda x, mean: x - mean,
    spread=_variance,
    small=lambda eps: eps,
    root=lambda variance, eps: (variance + eps).sqrt(),
    scale=lambda y, weight, bias: y * weight,
    shift=lambda y, bias: y + bias,
):  # fmt: skip
    average = mean(x, axis, keep)
    y = center(x, average) / root(spread(x, average, axis, keep), small(eps))
    return shift(scale(y, weight, bias), bias)


_INSIDE = "variance with unbiased=False, then sqrt(variance + eps)."

EXERCISE = Exercise(
    answer="layer_norm",
    cases=functools.partial(norms.norm_cases, with_bias=True),
    reference=_layer_norm,
    returns=("output",),
    faults=(
        *norms.EPSILON_FAULTS,
        Fault("unbiased variance", "the unbiased variance, divided by d - 1, which is what torch.var gives by "
            "default.", "divide by d: pass unbiased=False (or correction=0), or take the mean of the squares.",
            spread=lambda x, mean, axis, keep: x.var(axis, keepdim=keep)),
        Fault("epsilon outside, by std", "epsilon was added to the standard deviation, not to the variance.", _INSIDE,
            spread=lambda x, mean, axis, keep: x.std(axis, unbiased=False, keepdim=keep), root=lambda s, eps: s + eps),
        Fault("x.std() + eps", "x.std() + eps: the unbiased deviation (by d - 1), with epsilon outside the root.",
            _INSIDE, spread=lambda x, mean, axis, keep: x.std(axis, keepdim=keep), root=lambda s, eps: s + eps),
        Fault("RMSNorm", "RMSNorm with a bias: the mean was not taken off.",
            "subtract the mean first; then take the mean square.", center=lambda x, mean: x, spread=norms.mean_square),
        Fault("mean square for the variance", "the mean of x squared for the variance: right only where the mean is "
            "0.", "subtract the mean before you square.", spread=norms.mean_square),
        Fault("mean left in", "divided by the deviation, but the mean was not taken off.",
            "subtract the mean of each vector.", center=lambda x, mean: x),
        Fault("mean distance", "the mean distance from the mean instead of the standard deviation.",
            "square the differences first.", spread=lambda x, mean, *given: _mean((x - mean).abs(), *given).pow(2)),
        Fault("sum for the mean", "the sum of the squared differences instead of their mean.", "take the mean.",
            spread=lambda x, mean, axis, keep: (x - mean).pow(2).sum(axis, keepdim=keep)),
        *norms.WEIGHT_FAULTS,
        Fault("bias missing", "the bias was not used.", "multiply by weight, then add bias.", shift=lambda y, bias: y),
        Fault("bias first", "the bias was added before the weight, so that it was multiplied too.",
            "multiply by weight, then add bias.", scale=lambda y, weight, bias: (y + bias) * weight,
            shift=lambda y, bias: y),
        norms.cut_spread("variance", _variance),
        Fault("gradient cut in the statistics", "the numbers are right, but no gradient passes through mean and "
            "variance: the gradient of x is wrong.", "leave .detach(), .data, .item() and torch.no_grad() out.",
            mean=norms.detached(_mean), spread=norms.detached(_variance)),
        *norms.AXIS_FAULTS,
    ),
    symptoms=(norms.gradient_not_finite,),
    advice="with weight 1 and bias 0 each vector must come out with mean 0 and mean square 1.",
    rtol=5e-4,
)  # fmt: skip
