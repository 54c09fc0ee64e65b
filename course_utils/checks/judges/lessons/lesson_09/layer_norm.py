"""LayerNorm as a function."""

import functools

from ...exercise import Exercise, Fault
from ...kit import norms
from ...kit.parts import faults_of


def _layer_norm(
    x, weight, bias, eps, *, over=norms.LAST, mean=lambda x, over: x.mean(**over), center=lambda x, mean: x - mean,
    spread=lambda x, mean, over: (x - mean).square().mean(**over), small=lambda eps: eps,
    root=lambda variance, eps: (variance + eps).sqrt(), scale=lambda y, weight, bias: y * weight,
    shift=lambda y, bias: y + bias,
):  # fmt: skip
    average = mean(x, over)
    y = center(x, average) / root(spread(x, average, over), small(eps))
    return shift(scale(y, weight, bias), bias)


_INSIDE = "variance with unbiased=False, then sqrt(variance + eps)."
_ORDER = "multiply by weight, then add bias."

EXERCISE = Exercise(
    answer="layer_norm", cases=functools.partial(norms.norm_cases, with_bias=True), reference=_layer_norm,
    returns=("output",), faults=(
        *norms.ROOT_FAULTS,
        Fault("epsilon outside, by std", "epsilon was added to the standard deviation, not to the variance.", _INSIDE,
            spread=lambda x, mean, over: x.std(**over, unbiased=False), root=lambda s, eps: s + eps),
        Fault("x.std() + eps", "x.std() + eps: the unbiased deviation (by d - 1), with epsilon outside the root.",
            _INSIDE, spread=lambda x, mean, over: x.std(**over), root=lambda s, eps: s + eps),
        Fault("RMSNorm", "RMSNorm with a bias: the mean was not taken off.",
            "subtract the mean first; then take the mean square.", center=lambda x, mean: x, spread=norms.mean_square),
        Fault("mean left in", "divided by the deviation, but the mean was not taken off.",
            "subtract the mean of each vector.", center=lambda x, mean: x),
        *faults_of("spread", "the mean of the squared differences: (x - mean).pow(2).mean(dim=-1, keepdim=True).",
            ("unbiased variance", "the unbiased variance, divided by d - 1, which is what torch.var gives by default.",
             lambda x, mean, over: x.var(**over), "divide by d: pass unbiased=False, or take the mean of the squares."),
            ("mean square for the variance", "the mean of x squared for the variance: right only where the mean is 0.",
             norms.mean_square, "subtract the mean before you square."),
            ("mean distance", "the mean distance from the mean instead of the standard deviation.",
             lambda x, mean, over: (x - mean).abs().mean(**over).square()),
            ("sum for the mean", "the sum of the squared differences instead of their mean.",
             lambda x, mean, over: (x - mean).square().sum(**over))),
        Fault("epsilon divided too", norms.DIVIDED_TOO, _INSIDE, whole=lambda x, weight, bias, eps: weight * (c := x - x.mean(
            -1, keepdim=True)) / ((c.square().sum(-1, keepdim=True) + eps) / x.shape[-1]).sqrt() + bias),
        *norms.WEIGHT_FAULTS,
        Fault("bias missing", "the bias was not used.", _ORDER, shift=lambda y, bias: y),
        Fault("bias first", "the bias was added before the weight, so that it was multiplied too.", _ORDER,
            scale=lambda y, weight, bias: (y + bias) * weight, shift=lambda y, bias: y),
        Fault("gradient cut in the statistics", "the numbers are right, but no gradient passes through mean and "
            "variance: the gradient of x is wrong.", "leave .detach(), .data, .item() and torch.no_grad() out.",
            mean=lambda x, over: x.detach().mean(**over), root=lambda s, eps: (s.detach() + eps).sqrt()),
        *norms.OVER_FAULTS,
    ), advice="with weight 1, bias 0 and a tiny eps each vector must come out with mean 0 and mean square 1.", rtol=5e-4,
)  # fmt: skip
