"""Lesson 09, Transformer layers: what is right, what is wrong, and how it is told."""

import copy
import functools

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import layers, masks, multi_head

from .exercise import Alternative, Exercise, Mistake, Option, Quiz

_NORMS = (
    "torch.nn.functional.layer_norm",
    "torch.nn.functional.rms_norm",
    "torch.nn.functional.group_norm",
    "torch.nn.functional.instance_norm",
    "torch.nn.functional.batch_norm",
    "torch.layer_norm",
    "torch.native_layer_norm",
    "torch.rms_norm",
    "torch.group_norm",
    "torch.batch_norm",
    "torch.nn.LayerNorm",
    "torch.nn.RMSNorm",
    "torch.nn.GroupNorm",
    "course_utils.layers.norms.layer_norm",
    "course_utils.layers.norms.rms_norm",
    "course_utils.layers.norms.LayerNorm",
    "course_utils.layers.norms.RMSNorm",
)
_READY_MADE = (
    "course_utils.layers.residual.Residual",
    "course_utils.layers.encoder.EncoderLayer",
    "course_utils.layers.decoder.DecoderLayer",
    "torch.nn.TransformerEncoderLayer",
    "torch.nn.TransformerDecoderLayer",
)

# 9.1 ------------------------------------------------------------------------------------------------------------------


def _norm_inputs(seed, with_bias=True):
    """Ordinary vectors; small ones, where epsilon counts; a large epsilon; one vector without any spread."""
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for shape, size, eps, flat in (
        ((1, 2, 4), 1.0, 1e-5, False),
        ((3, 5, 6), 1.0, 1e-5, False),
        ((2, 7, 5), 0.003, 1e-5, False),
        ((4, 3, 10), 1.5, 0.5, False),
        ((2, 3, 8), 1.0, 1e-3, True),
        ((3, 5, 6), 2.0, 1e-5, False),  # sizes seen before, other numbers
    ):
        x = size * (torch.randn(shape, generator=rng) + torch.randn(*shape[:2], 1, generator=rng))
        if flat:
            x[0, 1], x[1, 0] = (2.0 if with_bias else 0.0), (-0.5 if with_bias else 0.0)
        case = {"x": x, "weight": 1 + 0.5 * torch.randn(shape[-1], generator=rng)}
        if with_bias:
            case["bias"] = torch.randn(shape[-1], generator=rng)
        cases.append(case | {"eps": eps})
    return cases


def _call_with_gradient(answer, case):
    """The output, and the gradient that reaches x in a second call."""
    x = _leaf(case["x"])
    seen = _plain(answer(*case.values()))
    again = answer(*(case | {"x": x * 1}).values())  # no leaf: whoever changes x in place reads of that, not of leaves
    return seen, _gradients(again, [x])[0]


def _leaf(x):
    return x.clone().requires_grad_()


def _plain(value):
    """A tensor as it is now: an answer that works in place may change it in a later call."""
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _gradients(output, watched):
    """What reaches the watched tensors when each entry of the output has a slope of its own; zeros where nothing does."""
    found = [None] * len(watched)
    if isinstance(output, torch.Tensor) and output.requires_grad:
        slope = torch.linspace(-1.0, 1.5, output.numel()).view(output.shape).cos()
        found = torch.autograd.grad((output * slope).sum(), watched, allow_unused=True)
    return [torch.zeros_like(w) if g is None else g.detach() for w, g in zip(watched, found, strict=True)]


def _normed(
    dim=-1,
    center=lambda x, dim: x - x.mean(dim, keepdim=True),
    spread=lambda x, dim: x.var(dim, unbiased=False, keepdim=True),
    root=lambda variance, eps: (variance + eps).sqrt(),
    finish=lambda y, weight, bias: y * weight + bias,
    eps_given=None,
):
    """LayerNorm with one of its parts exchanged."""

    def answer(x, weight, bias, eps):
        y = center(x, dim) / root(spread(x, dim), eps if eps_given is None else eps_given)
        return finish(y, weight, bias)

    return answer


def _normed_loop(x, weight, bias, eps):
    rows = []
    for row in x.reshape(-1, x.shape[-1]):
        mean = sum(row) / len(row)
        variance = sum((number - mean) ** 2 for number in row) / len(row)
        rows.append((row - mean) / (variance + eps) ** 0.5 * weight + bias)
    return torch.stack(rows).view(x.shape)


def _normed_var_mean(x, weight, bias, eps):
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(variance + eps), weight)


def _normed_einsum(x, weight, bias, eps):
    centered = x - torch.einsum("bld->bl", x)[..., None] / x.shape[-1]
    variance = torch.einsum("bld,bld->bl", centered, centered)[..., None] / x.shape[-1]
    return centered / (variance + eps).sqrt() * weight + bias


def _in_place(x, weight, bias, eps):
    y = x.detach() if not x.requires_grad else x.clone()
    y -= y.mean(-1, keepdim=True)
    return y / (y.pow(2).mean(-1, keepdim=True) + eps).sqrt() * weight + bias


def _in_place_twice(x, weight, bias, eps):
    x -= x.mean(-1, keepdim=True)
    x /= (x.var(-1, unbiased=False, keepdim=True) + eps).sqrt()
    return x * weight + bias


_IN_PLACE = (
    "x itself was changed: the residual connection still needs it.",
    "compute new tensors, x - mean and so on, instead of x -= mean or x /= root.",
)
_OUTSIDE = (
    "epsilon added outside the root: to the standard deviation instead of the variance.",
    "add it before you take the root: sqrt(variance + eps).",
)
_NO_EPS = (
    "epsilon was not used: a vector of equal numbers divides by zero.",
    "add eps to the variance, inside the root.",
)
_EPS_FIXED = (
    "an epsilon of 1e-5 whatever the argument eps says.",
    "use the argument eps.",
)
_CLAMPED = (
    "epsilon taken as a lower limit instead of being added.",
    "add eps to what stands below the root.",
)
_POSITIONS = (
    "normalized over the positions: each feature by its own mean over the sequence, so that tokens see one another.",
    "each vector by itself: mean and variance over the last axis, dim=-1, with keepdim=True.",
)
_BATCH = (
    "normalized over the batch, as batch normalization does: the sentences of a batch see one another.",
    "each vector by itself: mean and variance over the last axis, dim=-1, with keepdim=True.",
)
_SEQUENCE = (
    "normalized over positions and features together: tokens see one another.",
    "each vector by itself: mean and variance over the last axis alone.",
)
_EVERYTHING = (
    "one mean and one variance for the whole batch.",
    "each vector by itself: over the last axis, dim=-1, with keepdim=True.",
)
_DETACHED = (
    "the numbers are right, but no gradient passes through the statistics: the gradient of x is wrong.",
    "leave .detach(), .data, .item() and torch.no_grad() out.",
)
_WEIGHT_LESS_ONE = (
    "multiplied by 1 + weight.",
    "multiply by weight alone: here it starts at 1, not at 0.",
)

LAYER_NORM = Exercise(
    number="9.1",
    title="LayerNorm",
    points=3,
    inputs=_norm_inputs,
    reference=_normed(),
    returns=("output", "gradient of x"),
    call=_call_with_gradient,
    off_limits=_NORMS,
    rtol=5e-4,
    alternatives=(
        Alternative("loop over the vectors", _normed_loop),
        Alternative("var_mean and rsqrt", _normed_var_mean),
        Alternative("einsum", _normed_einsum),
        Alternative("mean of squares", _normed(spread=lambda x, d: (x - x.mean(d, True)).pow(2).mean(d, True))),
        Alternative("power one half", _normed(root=lambda v, eps: (v + eps) ** 0.5)),
        Alternative(
            "deviation squared",
            _normed(
                spread=lambda x, d: x.std(d, unbiased=False, keepdim=True), root=lambda s, eps: (s**2 + eps).sqrt()
            ),
        ),
        Alternative("PyTorch's own", lambda x, w, b, eps: F.layer_norm(x, w.shape, w, b, eps), off_limits=True),
        Alternative("the course's own", lambda x, w, b, eps: layers.norms.layer_norm(x, w, b, eps), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "unbiased variance",
            _normed(spread=lambda x, d: x.var(d, keepdim=True)),
            "the unbiased variance, divided by d - 1, which is what torch.var gives by default.",
            "divide by d: pass unbiased=False (or correction=0), or take the mean of the squares.",
        ),
        Mistake("epsilon outside", _normed(root=lambda v, eps: v.sqrt() + eps), *_OUTSIDE),
        Mistake(
            "unbiased, epsilon outside",
            _normed(spread=lambda x, d: x.var(d, keepdim=True), root=lambda v, eps: v.sqrt() + eps),
            "x.std() + eps: the unbiased deviation (divided by d - 1), with epsilon outside the root.",
            "variance with unbiased=False, then sqrt(variance + eps).",
        ),
        Mistake(
            "epsilon outside, deviation by std",
            _normed(spread=lambda x, d: x.std(d, unbiased=False, keepdim=True), root=lambda s, eps: s + eps),
            *_OUTSIDE,
        ),
        Mistake(
            "unbiased, epsilon outside, by std",
            _normed(spread=lambda x, d: x.std(d, keepdim=True), root=lambda s, eps: s + eps),
            "x.std() + eps: the unbiased deviation (divided by d - 1), with epsilon outside the root.",
            "variance with unbiased=False, then sqrt(variance + eps).",
        ),
        Mistake("no epsilon", _normed(root=lambda v, eps: v.sqrt()), *_NO_EPS),
        Mistake("epsilon fixed", _normed(eps_given=1e-5), *_EPS_FIXED),
        Mistake("epsilon as a limit", _normed(root=lambda v, eps: v.clamp(min=eps).sqrt()), *_CLAMPED),
        Mistake(
            "divided by the variance",
            _normed(root=lambda v, eps: v + eps),
            "divided by the variance: the root is missing.",
            "divide by the standard deviation, sqrt(variance + eps).",
        ),
        Mistake("over the positions", _normed(dim=1), *_POSITIONS),
        Mistake("over the batch", _normed(dim=0), *_BATCH),
        Mistake("over positions and features", _normed(dim=(1, 2)), *_SEQUENCE),
        Mistake("over everything", _normed(dim=(0, 1, 2)), *_EVERYTHING),
        Mistake(
            "RMSNorm",
            _normed(center=lambda x, d: x, spread=lambda x, d: x.pow(2).mean(d, True)),
            "RMSNorm with a bias: the mean was not taken off.",
            "subtract the mean first; the variance is the mean square of what is left.",
        ),
        Mistake(
            "mean square for the variance",
            _normed(spread=lambda x, d: x.pow(2).mean(d, True)),
            "the mean of x squared for the variance: that is so only where the mean is 0.",
            "subtract the mean before you square.",
        ),
        Mistake(
            "mean left in",
            _normed(center=lambda x, d: x),
            "divided by the deviation, but the mean was not taken off.",
            "subtract the mean of each vector.",
        ),
        Mistake(
            "mean distance",
            _normed(spread=lambda x, d: (x - x.mean(d, True)).abs().mean(d, True).pow(2)),
            "the mean distance from the mean instead of the standard deviation.",
            "square the differences before you average.",
        ),
        Mistake(
            "weight missing",
            _normed(finish=lambda y, w, b: y + b),
            "the weight was not used.",
            "multiply by weight, then add bias.",
        ),
        Mistake(
            "bias missing",
            _normed(finish=lambda y, w, b: y * w),
            "the bias was not used.",
            "multiply by weight, then add bias.",
        ),
        Mistake(
            "weight and bias missing",
            _normed(finish=lambda y, w, b: y),
            "neither weight nor bias was used.",
            "multiply by weight, then add bias.",
        ),
        Mistake(
            "bias first",
            _normed(finish=lambda y, w, b: (y + b) * w),
            "the bias added before the weight, so that it was multiplied too.",
            "multiply by weight, then add bias.",
        ),
        Mistake(
            "weight and bias exchanged",
            _normed(finish=lambda y, w, b: y * b + w),
            "weight and bias exchanged.",
            "multiply by weight, then add bias.",
        ),
        Mistake("one plus weight", _normed(finish=lambda y, w, b: y * (1 + w) + b), *_WEIGHT_LESS_ONE),
        Mistake(
            "gradient cut in the statistics",
            _normed(
                center=lambda x, d: x - x.mean(d, True).detach(),
                spread=lambda x, d: x.var(d, unbiased=False, keepdim=True).detach(),
            ),
            *_DETACHED,
        ),
        Mistake(
            "gradient cut in the variance",
            _normed(spread=lambda x, d: x.var(d, unbiased=False, keepdim=True).detach()),
            *_DETACHED,
        ),
        Mistake(
            "gradient cut",
            lambda x, w, b, eps: _normed()(x.detach(), w, b, eps),
            "the numbers are right, but no gradient reaches x.",
            "leave .detach(), .data and torch.no_grad() out.",
        ),
        Mistake("in place", _in_place, *_IN_PLACE),
        Mistake("in place twice", _in_place_twice, *_IN_PLACE),
    ),
    advice="with weight 1 and bias 0 each vector must come out with mean 0 and mean square 1.",
)

# 9.2 ------------------------------------------------------------------------------------------------------------------


def _rms(
    dim=-1,
    center=lambda x, dim: x,
    spread=lambda x, dim: x.pow(2).mean(dim, keepdim=True),
    root=lambda square, eps: (square + eps).sqrt(),
    finish=lambda y, weight: y * weight,
    eps_given=None,
):
    """RMSNorm with one of its parts exchanged."""

    def answer(x, weight, eps):
        return finish(center(x, dim) / root(spread(x, dim), eps if eps_given is None else eps_given), weight)

    return answer


def _rms_loop(x, weight, eps):
    rows = [row / (sum(number**2 for number in row) / len(row) + eps) ** 0.5 for row in x.reshape(-1, x.shape[-1])]
    return torch.stack(rows).view(x.shape) * weight


def _rms_in_place(x, weight, eps):
    x /= (x.pow(2).mean(-1, keepdim=True) + eps).sqrt()
    return x * weight


RMS_NORM = Exercise(
    number="9.2",
    title="RMSNorm",
    points=2,
    inputs=functools.partial(_norm_inputs, with_bias=False),
    reference=_rms(),
    returns=("output", "gradient of x"),
    call=_call_with_gradient,
    off_limits=_NORMS,
    rtol=5e-4,
    alternatives=(
        Alternative("loop over the vectors", _rms_loop),
        Alternative("rsqrt", lambda x, w, eps: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * w),
        Alternative("einsum", _rms(spread=lambda x, d: torch.einsum("bld,bld->bl", x, x)[..., None] / x.shape[-1])),
        Alternative("length squared", _rms(spread=lambda x, d: (x * x).sum(-1, True) / x.shape[-1])),
        Alternative("weight first", lambda x, w, eps: x * w / (x.pow(2).mean(-1, True) + eps) ** 0.5),
        Alternative("PyTorch's own", lambda x, w, eps: F.rms_norm(x, w.shape, w, eps), off_limits=True),
        Alternative("the course's own", lambda x, w, eps: layers.norms.rms_norm(x, w, eps), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "mean taken off",
            _rms(center=lambda x, d: x - x.mean(d, True), spread=lambda x, d: x.var(d, unbiased=False, keepdim=True)),
            "the mean was taken off: that is LayerNorm without a bias.",
            "leave the mean where it is: x divided by the root of the mean of x squared.",
        ),
        Mistake(
            "mean taken off above only",
            _rms(center=lambda x, d: x - x.mean(d, True)),
            "the mean was taken off above the line, and left in below it.",
            "RMSNorm takes no mean off: x divided by the root of the mean of x squared.",
        ),
        Mistake(
            "divided by the deviation",
            _rms(spread=lambda x, d: x.var(d, unbiased=False, keepdim=True)),
            "x divided by its standard deviation, from which the mean has been taken off.",
            "square x itself, not its distance from the mean.",
        ),
        Mistake(
            "divided by the unbiased deviation",
            _rms(spread=lambda x, d: x.var(d, keepdim=True)),
            "x divided by its standard deviation, from which the mean has been taken off.",
            "square x itself, not its distance from the mean.",
        ),
        Mistake(
            "sum for the mean",
            _rms(spread=lambda x, d: x.pow(2).sum(d, True)),
            "the sum of the squares instead of their mean: each vector has length 1, and its entries shrink as d grows.",
            "take the mean over the features.",
        ),
        Mistake(
            "unbiased",
            _rms(spread=lambda x, d: x.pow(2).sum(d, True) / (x.shape[-1] - 1)),
            "the sum of the squares divided by d - 1.",
            "divide by d: it is a plain mean.",
        ),
        Mistake("epsilon outside", _rms(root=lambda s, eps: s.sqrt() + eps), *_OUTSIDE),
        Mistake("no epsilon", _rms(root=lambda s, eps: s.sqrt()), *_NO_EPS),
        Mistake("epsilon fixed", _rms(eps_given=1e-5), *_EPS_FIXED),
        Mistake("epsilon as a limit", _rms(root=lambda s, eps: s.clamp(min=eps).sqrt()), *_CLAMPED),
        Mistake(
            "no root",
            _rms(root=lambda s, eps: s + eps),
            "divided by the mean square: the root is missing.",
            "divide by sqrt(mean square + eps).",
        ),
        Mistake(
            "mean size",
            _rms(spread=lambda x, d: x.abs().mean(d, True).pow(2)),
            "the mean of the absolute values instead of the root mean square.",
            "square, average, then take the root.",
        ),
        Mistake("over the positions", _rms(dim=1), *_POSITIONS),
        Mistake("over the batch", _rms(dim=0), *_BATCH),
        Mistake("over positions and features", _rms(dim=(1, 2)), *_SEQUENCE),
        Mistake("over everything", _rms(dim=(0, 1, 2)), *_EVERYTHING),
        Mistake(
            "weight missing",
            _rms(finish=lambda y, w: y),
            "the weight was not used.",
            "multiply by weight at the end.",
        ),
        Mistake("one plus weight", _rms(finish=lambda y, w: y * (1 + w)), *_WEIGHT_LESS_ONE),
        Mistake(
            "weight added",
            _rms(finish=lambda y, w: y + w),
            "the weight was added.",
            "multiply by weight.",
        ),
        Mistake(
            "F.normalize",
            lambda x, weight, eps: F.normalize(x, dim=-1) * x.shape[-1] ** 0.5 * weight,
            "each vector divided by its length, as F.normalize does: eps was not added.",
            "divide by sqrt(mean square + eps).",
        ),
        Mistake(
            "gradient cut in the statistics",
            _rms(spread=lambda x, d: x.pow(2).mean(d, True).detach()),
            *_DETACHED,
        ),
        Mistake(
            "gradient cut",
            lambda x, weight, eps: _rms()(x.detach(), weight, eps),
            "the numbers are right, but no gradient reaches x.",
            "leave .detach(), .data and torch.no_grad() out.",
        ),
        Mistake("in place", _rms_in_place, *_IN_PLACE),
    ),
    advice="with weight 1 each vector must come out with mean square 1, and its mean need not be 0.",
)

# 9.3 ------------------------------------------------------------------------------------------------------------------


def _feed_forward_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L, d_model, d_ff in ((1, 2, 3, 4), (2, 5, 6, 9), (3, 4, 5, 2), (2, 5, 6, 9)):
        params = {
            "up_proj.weight": torch.randn(d_ff, d_model, generator=rng) / d_model**0.5,
            "up_proj.bias": 0.5 * torch.randn(d_ff, generator=rng),
            "down_proj.weight": torch.randn(d_model, d_ff, generator=rng) / d_ff**0.5,
            "down_proj.bias": torch.randn(d_model, generator=rng),
        }
        cases.append({"x": torch.randn(B, L, d_model, generator=rng), "params": params})
    return cases


def _call_network(answer, case):
    seen = answer(case["x"], case["params"])
    learned = {name: tensor.clone().requires_grad_() for name, tensor in case["params"].items()}
    gradients = _gradients(answer(case["x"], learned), [learned["up_proj.weight"], learned["down_proj.weight"]])
    return seen, *gradients


def _linear(x, params, name, bias=True):
    return F.linear(x, params[f"{name}.weight"], params[f"{name}.bias"] if bias else None)


def _network(
    before=lambda x: x,
    between=F.relu,
    after=lambda y, x: y,
    up_bias=True,
    down_bias=True,
):
    """The feed-forward network with one of its parts exchanged."""

    def answer(x, params):
        wide = between(_linear(before(x), params, "up_proj", up_bias))
        return after(_linear(wide, params, "down_proj", down_bias), x)

    return answer


def _network_loop(x, params):
    network = _network(between=lambda y: y.clamp(min=0))
    return torch.stack([network(x[:, i], params) for i in range(x.shape[1])], dim=1)


def _network_convolution(x, params):
    wide = F.conv1d(x.transpose(1, 2), params["up_proj.weight"][..., None], params["up_proj.bias"]).relu()
    return F.conv1d(wide, params["down_proj.weight"][..., None], params["down_proj.bias"]).transpose(1, 2)


def _network_einsum(x, params):
    wide = torch.einsum("bld,fd->blf", x, params["up_proj.weight"]) + params["up_proj.bias"]
    return torch.einsum("blf,df->bld", wide * (wide > 0), params["down_proj.weight"]) + params["down_proj.bias"]


def _network_matmul(x, params):
    wide = torch.relu(x @ params["up_proj.weight"].T + params["up_proj.bias"])
    return wide @ params["down_proj.weight"].T + params["down_proj.bias"]


def _network_modules(x, params):
    d_ff, d_model = params["up_proj.weight"].shape
    network = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
    named = {name.replace("up_proj", "0").replace("down_proj", "2"): tensor for name, tensor in params.items()}
    return torch.func.functional_call(network, named, (x,))


def _network_course(x, params):
    d_ff, d_model = params["up_proj.weight"].shape
    return torch.func.functional_call(layers.FeedForward(d_model, d_ff), params, (x,))


def _network_untransposed(x, params):
    wide = torch.relu(x @ params["up_proj.weight"] + params["up_proj.bias"])
    return wide @ params["down_proj.weight"] + params["down_proj.bias"]


_NO_BIAS = "add the bias after each of the two matrices."

FEED_FORWARD = Exercise(
    number="9.3",
    title="The feed-forward network",
    points=2,
    inputs=_feed_forward_inputs,
    reference=_network(),
    returns=("output", "gradient of up_proj.weight", "gradient of down_proj.weight"),
    call=_call_network,
    off_limits=("course_utils.layers.feed_forward.FeedForward", "course_utils.layers.feed_forward.SwiGLU"),
    alternatives=(
        Alternative("loop over positions", _network_loop),
        Alternative("matrix product", _network_matmul),
        Alternative("einsum", _network_einsum),
        Alternative("convolution of width 1", _network_convolution),
        Alternative("modules", _network_modules),
        Alternative("maximum", _network(between=lambda y: torch.maximum(y, torch.zeros(())))),
        Alternative("the course's own", _network_course, off_limits=True),
    ),
    mistakes=(
        Mistake(
            "no ReLU",
            _network(between=lambda y: y),
            "two matrices with nothing in between: together they are one linear map.",
            "set what is negative in between to zero: ReLU after up_proj.",
        ),
        Mistake(
            "ReLU at the end",
            _network(between=lambda y: y, after=lambda y, x: y.relu()),
            "the ReLU stands after down_proj: the output has no negative entries.",
            "it belongs in between, after up_proj.",
        ),
        Mistake(
            "ReLU twice",
            _network(after=lambda y, x: y.relu()),
            "a second ReLU after down_proj: the output has no negative entries.",
            "only what is in between passes through ReLU.",
        ),
        Mistake(
            "ReLU first",
            _network(before=F.relu, between=lambda y: y),
            "the ReLU stands before up_proj: half of the input is lost.",
            "it belongs in between, after up_proj.",
        ),
        Mistake("GELU", _network(between=F.gelu), "GELU in the place of ReLU.", "this exercise asks for max(0, y)."),
        Mistake("SiLU", _network(between=F.silu), "SiLU in the place of ReLU.", "this exercise asks for max(0, y)."),
        Mistake(
            "sigmoid",
            _network(between=torch.sigmoid),
            "a sigmoid in the place of ReLU.",
            "this exercise asks for max(0, y).",
        ),
        Mistake(
            "tanh", _network(between=torch.tanh), "tanh in the place of ReLU.", "this exercise asks for max(0, y)."
        ),
        Mistake(
            "leaky ReLU",
            _network(between=F.leaky_relu),
            "a leaky ReLU: negative numbers still come through, a little.",
            "this exercise asks for max(0, y).",
        ),
        Mistake(
            "absolute value",
            _network(between=torch.abs),
            "the absolute value in the place of ReLU.",
            "negative numbers become 0, they do not change sign.",
        ),
        Mistake(
            "softmax",
            _network(between=lambda y: y.softmax(-1)),
            "a softmax in the place of ReLU.",
            "this exercise asks for max(0, y).",
        ),
        Mistake("no biases", _network(up_bias=False, down_bias=False), "both biases were left out.", _NO_BIAS),
        Mistake("no first bias", _network(up_bias=False), "the bias of up_proj was left out.", _NO_BIAS),
        Mistake("no second bias", _network(down_bias=False), "the bias of down_proj was left out.", _NO_BIAS),
        Mistake(
            "bias after ReLU",
            lambda x, p: _linear(_linear(x, p, "up_proj", False).relu() + p["up_proj.bias"], p, "down_proj"),
            "the bias of up_proj was added after the ReLU.",
            "matrix, bias, then ReLU.",
        ),
        Mistake(
            "residual added",
            _network(after=lambda y, x: x + y),
            "x was added: that is the residual connection's business, in 9.4.",
            "return what the network gives, alone.",
        ),
        Mistake(
            "matrices not transposed",
            _network_untransposed,
            "x @ W with a matrix of shape (out, in).",
            "x @ W.T, or F.linear(x, W, b).",
        ),
        Mistake(
            "positions mixed",
            lambda x, p: _network()(x.mean(1, keepdim=True).expand_as(x), p),
            "all positions were averaged first: the output is the same for each.",
            "each position goes through the network by itself.",
        ),
        Mistake(
            "gradient cut",
            _network(after=lambda y, x: y.detach()),
            "the numbers are right, but no gradient reaches the parameters.",
            "leave .detach(), .data and torch.no_grad() out.",
        ),
    ),
    advice="three steps: up to (B, L, d_ff) with its bias, negative numbers to zero, down to (B, L, d_model) with its bias.",
)

# 9.4 ------------------------------------------------------------------------------------------------------------------


def _residual_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for (B, L, d), pre_norm in (((1, 2, 4), True), ((1, 2, 4), False), ((2, 5, 6), True), ((3, 4, 7), False)):
        cases.append(
            {
                "x": 1.5 * torch.randn(B, L, d, generator=rng) + torch.randn(B, L, 1, generator=rng),
                "matrix": torch.randn(d, d, generator=rng) / d**0.5,
                "norm.weight": 1 + 0.5 * torch.randn(d, generator=rng),
                "norm.bias": torch.randn(d, generator=rng),
                "dropout": 0.4,
                "pre_norm": pre_norm,
            }
        )
    return cases


@torch.no_grad()
def _put(module, name, weight, bias):
    """The check's own numbers into one of a module's parts."""
    part = getattr(module, name, None)
    if getattr(part, "weight", None) is None or getattr(part, "bias", None) is None:
        raise ValueError(f"self.{name} is not what the given constructor made; leave the constructor as it is")
    part.weight.copy_(weight)
    part.bias.copy_(bias)


def _run_residual(answer, case):
    """Output and gradient without dropout, and the output with it: all draw their random numbers from one seed."""
    residual = answer(case["x"].shape[-1], case["dropout"], case["pre_norm"])
    _put(residual, "norm", case["norm.weight"], case["norm.bias"])

    def sublayer(y):
        return torch.tanh(y @ case["matrix"].T) + 0.3

    residual.eval()
    x = _leaf(case["x"])
    torch.manual_seed(1)  # for answers that drop even now
    seen = _plain(residual(case["x"], sublayer))
    (gradient,) = _gradients(residual(x * 1, sublayer), [x])
    residual.train()
    torch.manual_seed(1)
    return seen, gradient, _plain(residual(x * 1, sublayer))


class _Residual(nn.Module):
    """The residual connection with the constructor that the exercise gives."""

    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


def _residual(pre=None, post=None):
    """A class whose two orders are ``pre(self, x, f)`` and ``post(self, x, f)``; None: as they should be."""

    def forward(self, x, sublayer):
        chosen = pre if self.pre_norm else post
        return chosen(self, x, sublayer) if chosen else _Residual.forward(self, x, sublayer)

    return type("Residual", (_Residual,), {"forward": forward})


class _CourseResidual(layers.Residual):
    """The course's own, with the constructor that the exercise gives."""

    def __init__(self, d_model, dropout, pre_norm):
        super().__init__(d_model, dropout=dropout, pre_norm=pre_norm)


def _pre(self, x, f):
    return x + self.dropout(f(self.norm(x)))


def _post(self, x, f):
    return self.norm(x + self.dropout(f(x)))


def _functional_residual(self, x, f):
    change = F.dropout(f(self.norm(x) if self.pre_norm else x), self.dropout.p, self.training)
    return x + change if self.pre_norm else self.norm(x + change)


def _added_in_place(self, x, f):
    total = x.detach() if not x.requires_grad else x.clone()
    total += self.dropout(f(self.norm(x) if self.pre_norm else x))
    return total if self.pre_norm else self.norm(total)


def _added_to_the_same(self, x, f):
    x += self.dropout(f(self.norm(x) if self.pre_norm else x))
    return x if self.pre_norm else self.norm(x)


def _always_dropped(self, x, f):
    change = F.dropout(f(self.norm(x) if self.pre_norm else x), self.dropout.p)
    return x + change if self.pre_norm else self.norm(x + change)


def _both(form):
    return _residual(form, form)


_ALWAYS_PRE = (
    "pre-norm in both cases: pre_norm=False still normalizes before the sublayer.",
    "for pre_norm=False the norm comes last: norm(x + dropout(sublayer(x))).",
)
_ALWAYS_POST = (
    "post-norm in both cases: pre_norm=True still normalizes the sum.",
    "for pre_norm=True the norm stands before the sublayer: x + dropout(sublayer(norm(x))).",
)
_ORDERS_EXCHANGED = (
    "the two orders exchanged: pre_norm=True normalizes the sum, pre_norm=False before the sublayer.",
    "pre means: the norm comes before the sublayer.",
)
_NO_DROPOUT = (
    "right without dropout, but in training nothing is dropped.",
    "what the sublayer gives goes through self.dropout before it is added.",
)
_X_CHANGED = (
    "x itself was changed in place: whoever called still needs it.",
    "compute a new tensor: x + change instead of x += change.",
)
_DROPOUT_ON_SUM = (
    "dropout applied to the sum: that cuts the direct path as well.",
    "drop only what the sublayer gives, before it is added to x.",
)

RESIDUAL = Exercise(
    number="9.4",
    title="A residual connection, both ways",
    points=3,
    inputs=_residual_inputs,
    reference=_Residual,
    returns=("output", "gradient of x", "output in training"),
    call=_run_residual,
    expects="class",
    off_limits=_READY_MADE,
    alternatives=(
        Alternative("two branches", _residual(_pre, _post)),
        Alternative("functional dropout", _both(_functional_residual)),
        Alternative("torch.add", _residual(lambda s, x, f: torch.add(s.dropout(f(s.norm(x))), x))),
        Alternative(
            "the course's own",
            _CourseResidual,
            off_limits=True,
        ),
    ),
    mistakes=(
        Mistake("always pre-norm", _both(_pre), *_ALWAYS_PRE),
        Mistake("always post-norm", _both(_post), *_ALWAYS_POST),
        Mistake("orders exchanged", _residual(_post, _pre), *_ORDERS_EXCHANGED),
        Mistake(
            "nothing added",
            _residual(lambda s, x, f: s.dropout(f(s.norm(x))), lambda s, x, f: s.norm(s.dropout(f(x)))),
            "x was not added: what the sublayer gives stands alone.",
            "add x to what the sublayer gives.",
        ),
        Mistake(
            "no norm",
            _both(lambda s, x, f: x + s.dropout(f(x))),
            "x plus what the sublayer gives, without any norm.",
            "use self.norm, before the sublayer or after the sum.",
        ),
        Mistake(
            "normalized x added",
            _residual(lambda s, x, f: s.norm(x) + s.dropout(f(s.norm(x)))),
            "with pre_norm=True the normalized x was added, not x itself: the direct path passes through the norm.",
            "keep x as it came: x + dropout(sublayer(norm(x))).",
        ),
        Mistake(
            "norm on the direct path only",
            _residual(lambda s, x, f: s.norm(x) + s.dropout(f(x))),
            "with pre_norm=True the norm stands on the direct path, and the sublayer gets x as it is.",
            "the sublayer gets norm(x); what is added to is x itself.",
        ),
        Mistake(
            "norm of the change only",
            _residual(post=lambda s, x, f: x + s.norm(s.dropout(f(x)))),
            "with pre_norm=False only what the sublayer gives was normalized, not the sum.",
            "add first, then normalize the sum.",
        ),
        Mistake(
            "norm of the change before dropout",
            _residual(post=lambda s, x, f: x + s.dropout(s.norm(f(x)))),
            "with pre_norm=False only what the sublayer gives was normalized, not the sum.",
            "add first, then normalize the sum.",
        ),
        Mistake(
            "normalized twice",
            _residual(lambda s, x, f: s.norm(_pre(s, x, f)), lambda s, x, f: s.norm(_pre(s, x, f))),
            "normalized before the sublayer and after the sum.",
            "one norm for each order: before the sublayer, or after the sum.",
        ),
        Mistake(
            "dropout missing",
            _residual(lambda s, x, f: x + f(s.norm(x)), lambda s, x, f: s.norm(x + f(x))),
            *_NO_DROPOUT,
        ),
        Mistake(
            "dropout on the sum",
            _residual(lambda s, x, f: s.dropout(x + f(s.norm(x))), lambda s, x, f: s.norm(s.dropout(x + f(x)))),
            *_DROPOUT_ON_SUM,
        ),
        Mistake(
            "dropout on the result",
            _residual(lambda s, x, f: s.dropout(x + f(s.norm(x))), lambda s, x, f: s.dropout(s.norm(x + f(x)))),
            *_DROPOUT_ON_SUM,
        ),
        Mistake(
            "dropout before the sublayer",
            _residual(lambda s, x, f: x + f(s.dropout(s.norm(x))), lambda s, x, f: s.norm(x + f(s.dropout(x)))),
            "dropout applied to what goes into the sublayer.",
            "drop what comes out of it, before it is added.",
        ),
        Mistake(
            "dropout on x",
            _residual(lambda s, x, f: s.dropout(x) + f(s.norm(x)), lambda s, x, f: s.norm(s.dropout(x) + f(x))),
            "dropout applied to x: that cuts the direct path.",
            "drop only what the sublayer gives.",
        ),
        Mistake(
            "x added twice",
            _residual(lambda s, x, f: 2 * x + s.dropout(f(s.norm(x))), lambda s, x, f: s.norm(2 * x + s.dropout(f(x)))),
            "x was added twice.",
            "add it once.",
        ),
        Mistake(
            "direct path cut",
            _residual(lambda s, x, f: _pre(s, x, f) - x + x.detach(), lambda s, x, f: s.norm(x.detach() + f(x))),
            "no gradient passes along the direct path.",
            "add x itself: no .detach(), .data or torch.no_grad().",
        ),
        Mistake("in place", _both(_added_in_place), *_X_CHANGED),
        Mistake("in place, the same tensor", _both(_added_to_the_same), *_X_CHANGED),
        Mistake(
            "dropout missing after the norm",
            _residual(pre=lambda s, x, f: x + f(s.norm(x))),
            "dropout is missing with pre_norm=True.",
            "in both orders what the sublayer gives goes through self.dropout.",
        ),
        Mistake(
            "dropout missing before the norm",
            _residual(post=lambda s, x, f: s.norm(x + f(x))),
            "dropout is missing with pre_norm=False.",
            "in both orders what the sublayer gives goes through self.dropout.",
        ),
        Mistake(
            "always dropped",
            _both(_always_dropped),
            "dropout acts outside of training too: F.dropout(y, p) drops always, unless told self.training.",
            "use self.dropout, which knows whether the module is in training.",
        ),
    ),
    advice="write down both formulas of section 9.8, and go through yours from the inside out.",
)

# 9.5 ------------------------------------------------------------------------------------------------------------------


def _layer_sizes(rng, B, L, H, d_head, d_ff, pre_norm, norms):
    """Input, numbers for the norms, and a seed that the other parameters are drawn from."""
    d_model = H * d_head
    case = {"x": 1.5 * torch.randn(B, L, d_model, generator=rng) + torch.randn(B, L, 1, generator=rng)}
    for number in range(1, norms + 1):
        case[f"norm_{number}.weight"] = 1 + 0.5 * torch.randn(d_model, generator=rng)
        case[f"norm_{number}.bias"] = torch.randn(d_model, generator=rng)
    seed = int(torch.randint(10**6, (), generator=rng))
    return case | {"num_heads": H, "d_ff": d_ff, "pre_norm": pre_norm, "seed": seed}


def _padding(rng, B, L):
    """Which of L tokens are no padding, shape (B, 1, 1, L): at least two of them, and not all of the first row."""
    lengths = torch.randint(2, L + 1, (B,), generator=rng)
    lengths[0] = L - 1
    return (torch.arange(L) < lengths[:, None])[:, None, None, :]


def _encoder_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L, H, d_head, d_ff, pre_norm in (
        (1, 3, 2, 2, 5, True),
        (1, 3, 2, 2, 5, False),
        (2, 6, 4, 3, 10, True),
        (3, 5, 2, 5, 7, False),
    ):
        case = _layer_sizes(rng, B, L, H, d_head, d_ff, pre_norm, norms=2)
        cases.append(case | {"mask": _padding(rng, B, L)})
    return cases


def _prepared(answer, case, names, norms, *options):
    """A layer of the student's with the check's numbers in it; dropout stays in ``layer.dropout`` alone."""
    torch.manual_seed(case["seed"])
    layer = answer(case["x"].shape[-1], case["num_heads"], case["d_ff"], 0.4, *options)
    for offset, name in enumerate(names):
        if not isinstance(getattr(layer, name, None), nn.Module):
            raise ValueError(f"the layer must keep its part {name}, as in the constructor that was given")
        torch.manual_seed(case["seed"] + offset)
        for parameter in getattr(layer, name).parameters():
            nn.init.normal_(parameter, std=0.3 if parameter.dim() == 1 else 1.2 * parameter.shape[-1] ** -0.5)
    for number in range(1, norms + 1):
        _put(layer, f"norm_{number}", case[f"norm_{number}.weight"], case[f"norm_{number}.bias"])
    for part in layer.modules():
        if isinstance(part, multi_head.MultiHeadAttention):
            part.dropout = 0.0
        if isinstance(part, layers.FeedForward):
            part.dropout.p = 0.0
    return layer


def _run_layer(layer, x, others, watched):
    """Output and gradients without dropout, and the output with it, all from one seed."""
    layer.eval()
    leaf = _leaf(x)
    torch.manual_seed(1)  # for answers that drop even now
    seen = _plain(layer(x, *others))
    gradients = _gradients(layer(leaf * 1, *others), [leaf, *watched])
    layer.train()
    torch.manual_seed(1)
    return seen, *gradients, _plain(layer(leaf * 1, *others))


def _run_encoder(answer, case):
    layer = _prepared(answer, case, ("self_attention", "feed_forward"), 2, case["pre_norm"])
    return _run_layer(layer, case["x"], (case["mask"],), (layer.norm_1.weight, layer.norm_2.weight))


class _Encoder(nn.Module):
    """An encoder layer with the constructor that the exercise gives; the mistakes change one of its steps."""

    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = multi_head.MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = layers.FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = layers.LayerNorm(d_model), layers.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def around(self, x, sublayer, norm, number):
        if self.pre_norm:
            return x + self.dropout(sublayer(norm(x)))
        return norm(x + self.dropout(sublayer(x)))

    def attend(self, x, mask):
        return self.self_attention(x, mask=mask)

    def forward(self, x, mask):
        x = self.around(x, lambda y: self.attend(y, mask), self.norm_1, 1)
        return self.around(x, self.feed_forward, self.norm_2, 2)


def _encoder(**methods):
    return type("EncoderLayer", (_Encoder,), methods)


def _around(pre=None, post=None, only=None):
    """The connection with its two orders exchanged by ``pre(x, f, norm, drop)`` and ``post``, in sublayer ``only`` or all."""

    def around(self, x, sublayer, norm, number):
        chosen = pre if getattr(self, "pre_norm", True) else post
        if chosen is None or only not in (None, number):
            return _right_order(self, x, sublayer, norm)
        return chosen(x, sublayer, norm, self.dropout)

    return around


def _right_order(self, x, sublayer, norm):
    if getattr(self, "pre_norm", True):
        return x + self.dropout(sublayer(norm(x)))
    return norm(x + self.dropout(sublayer(x)))


def _pre_form(x, f, norm, drop):
    return x + drop(f(norm(x)))


def _post_form(x, f, norm, drop):
    return norm(x + drop(f(x)))


def _encoder_spelled_out(self, x, mask):
    if self.pre_norm:
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=mask))
        return x + self.dropout(self.feed_forward(self.norm_2(x)))
    x = self.norm_1(x + self.dropout(self.self_attention(x, x, x, mask=mask)))
    return self.norm_2(x + self.dropout(self.feed_forward(x)))


def _encoder_with_weights(self, x, mask):
    y, _ = self.self_attention(self.norm_1(x) if self.pre_norm else x, mask=mask, return_weights=True)
    x = x + self.dropout(y) if self.pre_norm else self.norm_1(x + self.dropout(y))
    y = self.dropout(self.feed_forward(self.norm_2(x) if self.pre_norm else x))
    return x + y if self.pre_norm else self.norm_2(x + y)


def _encoder_functional(self, x, mask):
    def dropped(y):
        return F.dropout(y, self.dropout.p, self.training)

    attention, network = self.self_attention, self.feed_forward
    if self.pre_norm:
        x = x + dropped(attention(self.norm_1(x), mask=mask))
        return x + dropped(network(self.norm_2(x)))
    x = self.norm_1(x + dropped(attention(x, mask=mask)))
    return self.norm_2(x + dropped(network(x)))


def _encoder_in_place(self, x, mask):
    if not self.pre_norm:
        return _Encoder.forward(self, x, mask)
    x += self.dropout(self.self_attention(self.norm_1(x), mask=mask))
    return x + self.dropout(self.feed_forward(self.norm_2(x)))


def _encoder_in_place_twice(self, x, mask):
    if not self.pre_norm:
        return _Encoder.forward(self, x, mask)
    x += self.dropout(self.self_attention(self.norm_1(x), mask=mask))
    x += self.dropout(self.feed_forward(self.norm_2(x)))
    return x


def _encoder_in_place_both(self, x, mask):
    x += self.dropout(self.self_attention(self.norm_1(x) if self.pre_norm else x, mask=mask))
    if not self.pre_norm:
        x = self.norm_1(x)
    x += self.dropout(self.feed_forward(self.norm_2(x) if self.pre_norm else x))
    return x if self.pre_norm else self.norm_2(x)


def _parallel(self, x, mask):
    a, b = (self.norm_1(x), self.norm_2(x)) if self.pre_norm else (x, x)
    x = x + self.dropout(self.self_attention(a, mask=mask)) + self.dropout(self.feed_forward(b))
    return x if self.pre_norm else self.norm_2(self.norm_1(x))


def _adds_to_the_start(self, x, mask):
    if not self.pre_norm:
        y = self.norm_1(x + self.dropout(self.self_attention(x, mask=mask)))
        return self.norm_2(x + self.dropout(self.feed_forward(y)))
    y = x + self.dropout(self.self_attention(self.norm_1(x), mask=mask))
    return x + self.dropout(self.feed_forward(self.norm_2(y)))


def _network_first(self, x, mask):
    x = self.around(x, self.feed_forward, self.norm_1, 2)
    return self.around(x, lambda y: self.attend(y, mask), self.norm_2, 1)


def _norms_by_number(first, second):
    def forward(self, x, mask):
        norms = {1: self.norm_1, 2: self.norm_2}
        x = self.around(x, lambda y: self.attend(y, mask), norms[first], 1)
        return self.around(x, self.feed_forward, norms[second], 2)

    return forward


def _raw_keys(self, x, mask):
    if not self.pre_norm:
        return _Encoder.forward(self, x, mask)
    x = x + self.dropout(self.self_attention(self.norm_1(x), x, x, mask=mask))
    return x + self.dropout(self.feed_forward(self.norm_2(x)))


def _one_by_one(self, x, mask):
    x = self.around(x, lambda y: self.attend(y, mask), self.norm_1, 1)
    return self.around(x, lambda y: y, self.norm_2, 2)


def _only_network(self, x, mask):
    return self.around(x, self.feed_forward, self.norm_2, 2)


def _with_weights_returned(self, x, mask):
    kept = []

    def attend(y):
        output, weights = self.self_attention(y, mask=mask, return_weights=True)
        kept.append(weights)
        return output

    x = self.around(x, attend, self.norm_1, 1)
    return self.around(x, self.feed_forward, self.norm_2, 2), kept[0]


class _CourseEncoder(layers.EncoderLayer):
    """The course's own, with the constructor that the exercise gives, and its names."""

    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout, pre_norm=pre_norm)
        self.norm_1, self.norm_2 = self.attention_norm, self.feed_forward_norm


_NO_RESIDUAL = (
    "no x is added around the {}: what it gives stands alone.",
    "each sublayer's result is added to what went into it.",
)
_LAYER_DROPOUT = "self.dropout acts on what each sublayer gives, before it is added."

ENCODER_LAYER = Exercise(
    number="9.5",
    title="An encoder layer",
    points=4,
    inputs=_encoder_inputs,
    reference=_Encoder,
    returns=(
        "output",
        "gradient of x",
        "gradient of norm_1.weight",
        "gradient of norm_2.weight",
        "output in training",
    ),
    call=_run_encoder,
    expects="class",
    off_limits=_READY_MADE,
    atol=2e-5,
    alternatives=(
        Alternative("spelled out", _encoder(forward=_encoder_spelled_out)),
        Alternative("functional dropout", _encoder(forward=_encoder_functional)),
        Alternative("asking for the weights", _encoder(forward=_encoder_with_weights)),
        Alternative("the course's own", _CourseEncoder, off_limits=True),
    ),
    mistakes=(
        Mistake("always pre-norm", _encoder(around=_around(post=_pre_form)), *_ALWAYS_PRE),
        Mistake("always post-norm", _encoder(around=_around(pre=_post_form)), *_ALWAYS_POST),
        Mistake("orders exchanged", _encoder(around=_around(_post_form, _pre_form)), *_ORDERS_EXCHANGED),
        Mistake(
            "orders mixed",
            _encoder(around=_around(_post_form, _pre_form, only=2)),
            "the attention has the order that pre_norm asks for, the feed-forward network the other one.",
            "use the same order around both sublayers.",
        ),
        Mistake(
            "mask not used",
            _encoder(attend=lambda self, x, mask: self.self_attention(x)),
            "the mask is accepted and never used: the padding is seen.",
            "hand it to the attention: mask=mask.",
        ),
        Mistake(
            "mask inverted",
            _encoder(attend=lambda self, x, mask: self.self_attention(x, mask=~mask)),
            "the mask was turned around, as PyTorch's layers want it; here True means may attend.",
            "hand the mask over as it is.",
        ),
        Mistake(
            "first norm twice",
            _encoder(forward=_norms_by_number(1, 1)),
            "norm_1 was used for both sublayers; norm_2 never learns.",
            "norm_2 belongs to the feed-forward network.",
        ),
        Mistake(
            "second norm twice",
            _encoder(forward=_norms_by_number(2, 2)),
            "norm_2 was used for both sublayers; norm_1 never learns.",
            "norm_1 belongs to the attention.",
        ),
        Mistake(
            "norms exchanged",
            _encoder(forward=_norms_by_number(2, 1)),
            "the two norms are exchanged.",
            "norm_1 belongs to the attention, norm_2 to the feed-forward network.",
        ),
        Mistake(
            "no residual around the attention",
            _encoder(around=_around(lambda x, f, n, d: d(f(n(x))), lambda x, f, n, d: n(d(f(x))), only=1)),
            _NO_RESIDUAL[0].format("attention"),
            _NO_RESIDUAL[1],
        ),
        Mistake(
            "no residual around the network",
            _encoder(around=_around(lambda x, f, n, d: d(f(n(x))), lambda x, f, n, d: n(d(f(x))), only=2)),
            _NO_RESIDUAL[0].format("feed-forward network"),
            _NO_RESIDUAL[1],
        ),
        Mistake(
            "no residual at all",
            _encoder(around=_around(lambda x, f, n, d: d(f(n(x))), lambda x, f, n, d: n(d(f(x))))),
            _NO_RESIDUAL[0].format("sublayers"),
            _NO_RESIDUAL[1],
        ),
        Mistake(
            "normalized x added",
            _encoder(around=_around(lambda x, f, n, d: n(x) + d(f(n(x))))),
            "in the pre-norm order the normalized x was added, not x itself.",
            "keep x as it came: x = self.norm_1(x) on a line of its own overwrites it.",
        ),
        Mistake(
            "norm of the change only",
            _encoder(around=_around(post=lambda x, f, n, d: x + n(d(f(x))))),
            "in the post-norm order only what the sublayer gives was normalized, not the sum.",
            "add first, then normalize the sum.",
        ),
        Mistake(
            "keys and values not normalized",
            _encoder(forward=_raw_keys),
            "in the pre-norm order only the queries were normalized; keys and values were made from x as it is.",
            "normalize once, and give the attention that result for all three.",
        ),
        Mistake(
            "added to the start",
            _encoder(forward=_adds_to_the_start),
            "the feed-forward network's result was added to the layer's input: what the attention found is lost.",
            "add it to the result of the first connection.",
        ),
        Mistake(
            "side by side",
            _encoder(forward=_parallel),
            "both sublayers got the layer's input, side by side.",
            "the feed-forward network comes after the attention, and works on its sum.",
        ),
        Mistake(
            "network first",
            _encoder(forward=_network_first),
            "the feed-forward network comes before the attention.",
            "first the attention, then the network.",
        ),
        Mistake(
            "no feed-forward network",
            _encoder(forward=_one_by_one),
            "the feed-forward network is never called.",
            "the second connection goes around self.feed_forward.",
        ),
        Mistake(
            "no attention",
            _encoder(forward=_only_network),
            "the attention is never called.",
            "the first connection goes around self.self_attention.",
        ),
        Mistake(
            "no norms",
            _encoder(around=_around(lambda x, f, n, d: x + d(f(x)), lambda x, f, n, d: x + d(f(x)))),
            "neither norm is used.",
            "pre-norm: norm before the sublayer; post-norm: norm of the sum.",
        ),
        Mistake(
            "no dropout",
            _encoder(around=_around(lambda x, f, n, d: x + f(n(x)), lambda x, f, n, d: n(x + f(x)))),
            _NO_DROPOUT[0],
            _LAYER_DROPOUT,
        ),
        Mistake(
            "dropout on the network only",
            _encoder(around=_around(lambda x, f, n, d: x + f(n(x)), lambda x, f, n, d: n(x + f(x)), only=1)),
            "right without dropout, but in training nothing is dropped from the attention's result.",
            _LAYER_DROPOUT,
        ),
        Mistake(
            "dropout on the attention only",
            _encoder(around=_around(lambda x, f, n, d: x + f(n(x)), lambda x, f, n, d: n(x + f(x)), only=2)),
            "right without dropout, but in training nothing is dropped from the network's result.",
            _LAYER_DROPOUT,
        ),
        Mistake(
            "dropout on the sum",
            _encoder(around=_around(lambda x, f, n, d: d(x + f(n(x))), lambda x, f, n, d: n(d(x + f(x))))),
            *_DROPOUT_ON_SUM,
        ),
        Mistake("in place", _encoder(forward=_encoder_in_place), *_X_CHANGED),
        Mistake("in place twice", _encoder(forward=_encoder_in_place_twice), *_X_CHANGED),
        Mistake("in place, both orders", _encoder(forward=_encoder_in_place_both), *_X_CHANGED),
        Mistake(
            "weights handed back too",
            _encoder(forward=_with_weights_returned),
            "two things: the output and the attention weights.",
            "return the output alone.",
        ),
        Mistake(
            "gradient cut",
            _encoder(forward=lambda self, x, mask: _Encoder.forward(self, x, mask).detach()),
            "the numbers are right, but no gradient reaches x or the parameters.",
            "leave .detach(), .data and torch.no_grad() out.",
        ),
    ),
    advice="two connections of 9.4, one after the other: attention with norm_1, then the network with norm_2.",
)

# 9.6 ------------------------------------------------------------------------------------------------------------------


def _decoder_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L_t, L_s, H, d_head, d_ff in ((2, 3, 4, 2, 2, 5), (2, 5, 5, 2, 3, 8), (3, 4, 7, 2, 5, 6)):
        case = _layer_sizes(rng, B, L_t, H, d_head, d_ff, True, norms=3)
        memory = 1.5 * torch.randn(B, L_s, H * d_head, generator=rng) + torch.randn(B, L_s, 1, generator=rng)
        target_mask = _padding(rng, B, L_t) & masks.causal_mask(L_t)  # (B, 1, L_t, L_t)
        cases.append(case | {"memory": memory, "target_mask": target_mask, "memory_mask": _padding(rng, B, L_s)})
    return cases


def _run_decoder(answer, case):
    names = ("self_attention", "cross_attention", "feed_forward")
    layer = _prepared(answer, case, names, 3)
    memory = _leaf(case["memory"])
    watched = (memory, layer.norm_1.weight, layer.norm_2.weight, layer.norm_3.weight)
    return _run_layer(layer, case["x"], (memory, case["target_mask"], case["memory_mask"]), watched)


class _Decoder(nn.Module):
    """A decoder layer with the constructor that the exercise gives; the mistakes change one of its steps."""

    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = multi_head.MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = multi_head.MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = layers.FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = layers.LayerNorm(d_model), layers.LayerNorm(d_model)
        self.norm_3 = layers.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    order = ("look back", "look across", "think")
    numbers = (1, 2, 3)

    def around(self, x, sublayer, norm, number):
        return x + self.dropout(sublayer(norm(x)))

    def look_back(self, y, memory, target_mask, memory_mask):
        return self.self_attention(y, mask=target_mask)

    def look_across(self, y, memory, target_mask, memory_mask):
        return self.cross_attention(y, memory, memory, mask=memory_mask)

    def think(self, y, *others):
        return self.feed_forward(y)

    def forward(self, x, memory, target_mask, memory_mask):
        steps = {"look back": self.look_back, "look across": self.look_across, "think": self.think}
        for number, name in enumerate(self.order, start=1):
            norm = getattr(self, f"norm_{self.numbers[number - 1]}")
            x = self.around(x, lambda y, s=steps[name]: s(y, memory, target_mask, memory_mask), norm, number)
        return x


def _decoder(**methods):
    return type("DecoderLayer", (_Decoder,), methods)


def _across(attend):
    """Cross-attention by ``attend(attention, y, memory, target_mask, memory_mask)``."""
    return _decoder(look_across=lambda self, *given: attend(self.cross_attention, *given))


def _back(attend):
    return _decoder(look_back=lambda self, *given: attend(self.self_attention, *given))


def _decoder_spelled_out(self, x, memory, target_mask, memory_mask):
    y = self.norm_1(x)
    x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
    x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=memory_mask))
    return x + self.dropout(self.feed_forward(self.norm_3(x)))


def _decoder_projected(self, x, memory, target_mask, memory_mask):
    x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
    made = self.cross_attention.project_key_value(memory, memory)
    x = x + self.dropout(self.cross_attention(self.norm_2(x), projected=made, mask=memory_mask))
    return x + self.dropout(self.feed_forward(self.norm_3(x)))


def _decoder_with_weights(self, x, memory, target_mask, memory_mask):
    y, _ = self.self_attention(self.norm_1(x), mask=target_mask, return_weights=True)
    x = x + F.dropout(y, self.dropout.p, self.training)
    y, _ = self.cross_attention(self.norm_2(x), memory, memory, mask=memory_mask, return_weights=True)
    x = x + F.dropout(y, self.dropout.p, self.training)
    return x + F.dropout(self.feed_forward(self.norm_3(x)), self.dropout.p, self.training)


def _self_result_lost(self, x, memory, target_mask, memory_mask):
    y = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
    x = x + self.dropout(self.cross_attention(self.norm_2(y), memory, memory, mask=memory_mask))
    return x + self.dropout(self.feed_forward(self.norm_3(x)))


def _decoder_in_place(self, x, memory, target_mask, memory_mask):
    x += self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
    x += self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=memory_mask))
    x += self.dropout(self.feed_forward(self.norm_3(x)))
    return x


def _without(*names):
    kept = [(name, number) for name, number in zip(_Decoder.order, _Decoder.numbers, strict=True) if name not in names]
    return _decoder(order=tuple(name for name, _ in kept), numbers=tuple(number for _, number in kept))


class _CourseDecoder(layers.DecoderLayer):
    """The course's own, with the constructor that the exercise gives, and its names."""

    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = self.attention_norm, self.cross_attention_norm
        self.norm_3 = self.feed_forward_norm

    def forward(self, x, memory, target_mask, memory_mask):
        return super().forward(x, memory, target_mask=target_mask, memory_mask=memory_mask)


_NUMBERED = (
    "a norm was used in another sublayer's place.",
    "norm_1 belongs to self-attention, norm_2 to cross-attention, norm_3 to the feed-forward network.",
)
_THREE = "three connections: self-attention, then cross-attention, then the feed-forward network."

DECODER_LAYER = Exercise(
    number="9.6",
    title="A decoder layer",
    points=4,
    inputs=_decoder_inputs,
    reference=_Decoder,
    returns=(
        "output",
        "gradient of x",
        "gradient of memory",
        "gradient of norm_1.weight",
        "gradient of norm_2.weight",
        "gradient of norm_3.weight",
        "output in training",
    ),
    call=_run_decoder,
    expects="class",
    off_limits=_READY_MADE,
    atol=2e-5,
    alternatives=(
        Alternative("spelled out", _decoder(forward=_decoder_spelled_out)),
        Alternative("memory projected first", _decoder(forward=_decoder_projected)),
        Alternative("asking for the weights", _decoder(forward=_decoder_with_weights)),
        Alternative("the course's own", _CourseDecoder, off_limits=True),
    ),
    mistakes=(
        Mistake(
            "target's mask for the memory",
            _across(lambda a, y, memory, target_mask, memory_mask: a(y, memory, memory, mask=target_mask)),
            "cross-attention was given the target's mask: it runs only where both sequences have the same length.",
            "the keys of cross-attention are the source's: mask=memory_mask.",
        ),
        Mistake(
            "memory's mask for the target",
            _back(lambda a, y, memory, target_mask, memory_mask: a(y, mask=memory_mask)),
            "self-attention was given the memory's mask: it runs only where both sequences have the same length.",
            "the keys of self-attention are the target's: mask=target_mask.",
        ),
        Mistake(
            "masks exchanged",
            _decoder(
                look_back=lambda self, y, memory, t, m: self.self_attention(y, mask=m),
                look_across=lambda self, y, memory, t, m: self.cross_attention(y, memory, memory, mask=t),
            ),
            "the two masks are exchanged.",
            "target_mask for self-attention, memory_mask for cross-attention.",
        ),
        Mistake(
            "no mask for the memory",
            _across(lambda a, y, memory, target_mask, memory_mask: a(y, memory, memory)),
            "cross-attention got no mask: the padding of the source is seen.",
            "hand it memory_mask.",
        ),
        Mistake(
            "no mask for the target",
            _back(lambda a, y, memory, target_mask, memory_mask: a(y)),
            "self-attention got no mask: the target sees its own future.",
            "hand it target_mask.",
        ),
        Mistake(
            "no masks",
            _decoder(
                look_back=lambda self, y, memory, t, m: self.self_attention(y),
                look_across=lambda self, y, memory, t, m: self.cross_attention(y, memory, memory),
            ),
            "neither mask was used.",
            "target_mask for self-attention, memory_mask for cross-attention.",
        ),
        Mistake(
            "self-attention twice",
            _across(lambda a, y, memory, target_mask, memory_mask: a(y, mask=target_mask)),
            "the second attention looks at the target again: the memory plays no part.",
            "give it memory as key and as value.",
        ),
        Mistake(
            "memory asks",
            _across(lambda a, y, memory, target_mask, memory_mask: a(memory, y, y)),
            "the memory asks and the target is asked.",
            "queries come from the target, keys and values from memory.",
        ),
        Mistake(
            "memory normalized",
            _decoder(
                look_across=lambda self, y, memory, t, m: self.cross_attention(
                    y, self.norm_2(memory), self.norm_2(memory), mask=m
                )
            ),
            "the memory was normalized by norm_2 as well.",
            "use the memory as it is: the encoder's final norm has normalized it already.",
        ),
        Mistake(
            "cross-attention before self-attention",
            _decoder(order=("look across", "look back", "think")),
            "cross-attention comes before self-attention.",
            _THREE,
        ),
        Mistake(
            "cross-attention before self-attention, norms moved along",
            _decoder(order=("look across", "look back", "think"), numbers=(2, 1, 3)),
            "cross-attention comes before self-attention.",
            _THREE,
        ),
        Mistake(
            "network before cross-attention",
            _decoder(order=("look back", "think", "look across")),
            "the feed-forward network comes before cross-attention.",
            _THREE,
        ),
        Mistake("no cross-attention", _without("look across"), "cross-attention is never called.", _THREE),
        Mistake("no self-attention", _without("look back"), "self-attention is never called.", _THREE),
        Mistake("no feed-forward network", _without("think"), "the feed-forward network is never called.", _THREE),
        Mistake("one norm for all", _decoder(numbers=(1, 1, 1)), *_NUMBERED),
        Mistake("first norm twice", _decoder(numbers=(1, 1, 3)), *_NUMBERED),
        Mistake("second norm twice", _decoder(numbers=(1, 2, 2)), *_NUMBERED),
        Mistake("last norms exchanged", _decoder(numbers=(1, 3, 2)), *_NUMBERED),
        Mistake("first norms exchanged", _decoder(numbers=(2, 1, 3)), *_NUMBERED),
        Mistake(
            "post-norm",
            _decoder(around=_around(pre=_post_form)),
            "post-norm: each sum was normalized.",
            "this exercise asks for pre-norm: the norm before each sublayer, on what goes into it.",
        ),
        Mistake(
            "no norm before cross-attention",
            _decoder(around=_around(lambda x, f, n, d: x + d(f(x)), only=2)),
            "what goes into cross-attention is not normalized.",
            "the queries are made from norm_2(x).",
        ),
        Mistake(
            "no norms",
            _decoder(around=_around(lambda x, f, n, d: x + d(f(x)))),
            "no norm is used at all.",
            "norm_1, norm_2 and norm_3 stand before the three sublayers.",
        ),
        Mistake(
            "normalized x added",
            _decoder(around=_around(lambda x, f, n, d: n(x) + d(f(n(x))))),
            "the normalized x was added, not x itself.",
            "keep x as it came: x = self.norm_1(x) on a line of its own overwrites it.",
        ),
        Mistake(
            "no residual around cross-attention",
            _decoder(around=_around(lambda x, f, n, d: d(f(n(x))), only=2)),
            _NO_RESIDUAL[0].format("cross-attention"),
            _NO_RESIDUAL[1],
        ),
        Mistake(
            "no residual at all",
            _decoder(around=_around(lambda x, f, n, d: d(f(n(x))))),
            _NO_RESIDUAL[0].format("sublayers"),
            _NO_RESIDUAL[1],
        ),
        Mistake(
            "self-attention's result lost",
            _decoder(forward=_self_result_lost),
            "cross-attention's result was added to the layer's input: what self-attention found is lost.",
            "each connection starts from the result of the one before.",
        ),
        Mistake(
            "no dropout",
            _decoder(around=_around(lambda x, f, n, d: x + f(n(x)))),
            _NO_DROPOUT[0],
            _LAYER_DROPOUT,
        ),
        Mistake(
            "no dropout on cross-attention",
            _decoder(around=_around(lambda x, f, n, d: x + f(n(x)), only=2)),
            "right without dropout, but in training nothing is dropped from cross-attention's result.",
            _LAYER_DROPOUT,
        ),
        Mistake("dropout on the sum", _decoder(around=_around(lambda x, f, n, d: d(x + f(n(x))))), *_DROPOUT_ON_SUM),
        Mistake("in place", _decoder(forward=_decoder_in_place), *_X_CHANGED),
        Mistake(
            "memory detached",
            _across(
                lambda a, y, memory, target_mask, memory_mask: a(y, memory.detach(), memory.detach(), mask=memory_mask)
            ),
            "no gradient reaches the memory: the encoder would never learn.",
            "use the memory as it is, without .detach() or .data.",
        ),
        Mistake(
            "gradient cut",
            _decoder(forward=lambda self, *given: _Decoder.forward(self, *given).detach()),
            "the numbers are right, but no gradient reaches x or the parameters.",
            "leave .detach(), .data and torch.no_grad() out.",
        ),
    ),
    advice="for each attention ask two things: where do keys and values come from, and whose mask hides some of them?",
)

# 9.7 ------------------------------------------------------------------------------------------------------------------


def _stack_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L, d, N in ((1, 4, 3, 2), (2, 5, 4, 3), (3, 4, 6, 5), (2, 6, 3, 1)):
        cases.append(
            {
                "x": torch.randn(B, L, d, generator=rng) + torch.randn(B, L, 1, generator=rng),
                "mask": _padding(rng, B, L),
                "num_layers": N,
                "matrices": torch.randn(N + 3, d, d, generator=rng) / d**0.5,
            }
        )
    return cases


class _SmallLayer(nn.Module):
    """Stands for an encoder layer: each token gets the mean of those it may see, through a matrix of its own."""

    def __init__(self, matrix):
        super().__init__()
        self.matrix = nn.Parameter(matrix.clone())

    def forward(self, x, mask=None):
        seen = torch.ones(1, 1, 1, x.shape[1]) if mask is None else mask.float()  # (B, 1, 1, L)
        mean = (seen[:, 0] @ x) / seen[:, 0].sum(-1, keepdim=True)  # (B, 1, d)
        return x + torch.tanh((x + mean) @ self.matrix)


def _run_stack(answer, case):
    made = []

    def make_layer():
        made.append(_SmallLayer(case["matrices"][len(made) % len(case["matrices"])]))
        return made[-1]

    stack = answer(make_layer, case["num_layers"], case["x"].shape[-1])
    size = sum(parameter.numel() for parameter in stack.parameters())
    known = {id(layer.matrix) for layer in made}
    others = [parameter for parameter in stack.parameters() if id(parameter) not in known]
    output = stack(case["x"], case["mask"])
    gradients = _gradients(output, [layer.matrix for layer in made] + others)
    return _plain(output), size, gradients[: len(made)], gradients[len(made) :]


class _Stack(nn.Module):
    """A stack in the plainest form; the mistakes change one of its two methods."""

    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleList(make_layer() for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


def _stack(build=None, run=None, more=0):
    """``build(make_layer, n)`` gives the layers, ``run(self, x, mask)`` the output."""

    def construct(self, make_layer, num_layers, d_model):
        nn.Module.__init__(self)
        count = num_layers + more
        self.layers = build(make_layer, count) if build else nn.ModuleList(make_layer() for _ in range(count))
        self.norm = nn.LayerNorm(d_model)

    return type("Stack", (_Stack,), {"__init__": construct, "forward": run or _Stack.forward})


class _NamedStack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.num_layers = num_layers
        for number in range(num_layers):
            setattr(self, f"layer_{number}", make_layer())
        self.final = layers.LayerNorm(d_model)

    def forward(self, x, mask):
        for number in range(self.num_layers):
            x = getattr(self, f"layer_{number}")(x, mask=mask)
        return self.final(x)


class _NoNorm(_Stack):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__(make_layer, num_layers, d_model)
        del self.norm

    def forward(self, x, mask):
        return functools.reduce(lambda y, layer: layer(y, mask), self.layers, x)


class _FunctionalNorm(_NoNorm):
    def forward(self, x, mask):
        return F.layer_norm(super().forward(x, mask), x.shape[-1:])


class _NormEach(_Stack):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__(make_layer, num_layers, d_model)
        self.norm = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(num_layers))

    def forward(self, x, mask):
        for layer, norm in zip(self.layers, self.norm, strict=True):
            x = norm(layer(x, mask))
        return x


def _shared_norm(self, x, mask):
    for layer in self.layers:
        x = self.norm(layer(x, mask))
    return x


def _norm_first(self, x, mask):
    x = self.norm(x)
    for layer in self.layers:
        x = layer(x, mask)
    return x


def _first_masked(self, x, mask):
    for number, layer in enumerate(self.layers):
        x = layer(x, mask if number == 0 else None)
    return self.norm(x)


def _last_only(self, x, mask):
    for layer in self.layers:
        output = layer(x, mask)
    return self.norm(output)


def _reversed(self, x, mask):
    for layer in reversed(self.layers):
        x = layer(x, mask)
    return self.norm(x)


def _residual_around_layers(self, x, mask):
    for layer in self.layers:
        x = x + layer(x, mask)
    return self.norm(x)


def _registered_twice(make_layer, count):
    made = [make_layer() for _ in range(count)]
    return nn.ModuleList(made[:1] * count)


STACK = Exercise(
    number="9.7",
    title="A stack of layers",
    points=3,
    inputs=_stack_inputs,
    reference=_Stack,
    returns=("output", "number of parameters", "gradients of the layers", "gradients of the norm"),
    call=_run_stack,
    expects="class",
    off_limits=("torch.nn.TransformerEncoder", "course_utils.models.transformer.Transformer"),
    alternatives=(
        Alternative("attributes with numbers", _NamedStack),
        Alternative("list, then ModuleList", _stack(lambda make, n: nn.ModuleList([make() for _ in range(n)]))),
        Alternative("Sequential as a list", _stack(lambda make, n: nn.Sequential(*(make() for _ in range(n))))),
        Alternative(
            "reduce",
            _stack(run=lambda s, x, mask: s.norm(functools.reduce(lambda y, layer: layer(y, mask), s.layers, x))),
        ),
    ),
    mistakes=(
        Mistake(
            "one layer many times",
            _stack(lambda make, n: nn.ModuleList([make()] * n)),
            "the same layer num_layers times: one set of parameters, which every place in the stack shares.",
            "call make_layer() once for each place: [make_layer() for _ in range(num_layers)].",
        ),
        Mistake(
            "one layer in a loop",
            _stack(
                lambda make, n: make(),
                lambda s, x, mask: s.norm(functools.reduce(lambda y, _: s.layers(y, mask), range(s.count), x)),
            ),
            "a single layer, applied once.",
            "make num_layers of them.",
        ),
        Mistake(
            "first layer many times, others made in vain",
            _stack(_registered_twice),
            "num_layers layers were made, but only the first is used, num_layers times.",
            "give each place of the stack a layer of its own.",
        ),
        Mistake(
            "deep copies",
            _stack(lambda make, n: nn.ModuleList(copy.deepcopy(layer) for layer in [make()] * n)),
            "copies of one layer: each has parameters of its own, but all start from the same numbers.",
            "call make_layer() once for each place, so that each starts from random numbers of its own.",
        ),
        Mistake(
            "plain list",
            _stack(lambda make, n: [make() for _ in range(n)]),
            "the layers are kept in a plain Python list: their parameters are missing in parameters(), so an "
            "optimizer would never train them.",
            "put the list into nn.ModuleList.",
        ),
        Mistake(
            "no final norm",
            _NoNorm,
            "the final norm is missing.",
            "a pre-norm stack ends in one more LayerNorm, with parameters of its own.",
        ),
        Mistake(
            "final norm made, not used",
            _stack(run=lambda s, x, mask: functools.reduce(lambda y, layer: layer(y, mask), s.layers, x)),
            "the final norm is made but never used.",
            "apply it to what the last layer gives.",
        ),
        Mistake(
            "final norm without parameters",
            _FunctionalNorm,
            "the output is normalized, but the norm has no parameters to learn.",
            "make an nn.LayerNorm(d_model) in the constructor, and use it at the end.",
        ),
        Mistake(
            "parameters of the final norm not used",
            _stack(run=lambda s, x, mask: F.layer_norm(_NoNorm.forward(s, x, mask), x.shape[-1:])),
            "the output is normalized, but not by the norm that was made: its parameters never learn.",
            "call the nn.LayerNorm of the constructor on what the last layer gives.",
        ),
        Mistake(
            "one norm after each layer",
            _stack(run=_shared_norm),
            "the norm stands after every layer, the same one each time.",
            "it belongs after the last layer only.",
        ),
        Mistake(
            "a norm after each layer",
            _NormEach,
            "every layer has a norm after it.",
            "one norm, after the last layer only.",
        ),
        Mistake(
            "norm before the first layer",
            _stack(run=_norm_first),
            "the norm stands before the first layer.",
            "it belongs after the last one.",
        ),
        Mistake(
            "mask not used",
            _stack(
                run=lambda s, x, mask: s.norm(functools.reduce(lambda y, layer: layer(y, None), s.layers, x)),
            ),
            "the mask does not reach the layers.",
            "hand it to each of them: layer(x, mask).",
        ),
        Mistake(
            "mask for the first layer only",
            _stack(run=_first_masked),
            "the mask reaches the first layer only.",
            "every layer needs it: the padding is there in all of them.",
        ),
        Mistake(
            "each layer on the input",
            _stack(run=_last_only),
            "every layer got the input of the stack; only the last one's output counts.",
            "hand on: x = layer(x, mask).",
        ),
        Mistake(
            "residual around the layers",
            _stack(run=_residual_around_layers),
            "x was added once more around each layer: the layers have their connections inside.",
            "hand on what the layer gives: x = layer(x, mask).",
        ),
        Mistake("backwards", _stack(run=_reversed), "the layers are run from the last to the first.", "begin with 0."),
        Mistake("one too many", _stack(more=1), "one layer too many.", "range(num_layers) counts from 0."),
        Mistake("one too few", _stack(more=-1), "one layer too few.", "range(num_layers) has num_layers numbers."),
        Mistake(
            "gradient cut",
            _stack(run=lambda s, x, mask: _Stack.forward(s, x, mask).detach()),
            "the numbers are right, but no gradient reaches the layers.",
            "leave .detach(), .data and torch.no_grad() out.",
        ),
    ),
    advice="count the parameters of your stack: num_layers times a layer's, and 2 * d_model for the norm.",
)

# 9.8 ------------------------------------------------------------------------------------------------------------------


def _bug_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L_t, L_s, H, d_head in ((2, 4, 4, 1, 3), (2, 5, 7, 2, 4), (3, 6, 5, 3, 2), (2, 5, 5, 2, 3)):
        d_model = H * d_head
        ids = [torch.randint(1, 9, (B, L), generator=rng) for L in (L_t, L_s)]
        for tokens, L in zip(ids, (L_t, L_s), strict=True):
            tokens.masked_fill_(~_padding(rng, B, L)[:, 0, 0], 0)
        cases.append(
            {
                "x": 1.5 * torch.randn(B, L_t, d_model, generator=rng),
                "memory": 1.5 * torch.randn(B, L_s, d_model, generator=rng),
                "target": ids[0].flip(1) if L_t == 6 else ids[0],  # padding on the left, once
                "source": ids[1].flip(1) if L_s == 7 else ids[1],
                "num_heads": H,
                "seed": int(torch.randint(10**6, (), generator=rng)),
            }
        )
    return cases


def _run_attentions(answer, case):
    torch.manual_seed(case["seed"])
    attentions = [multi_head.MultiHeadAttention(case["x"].shape[-1], case["num_heads"]) for _ in range(2)]
    for attention in attentions:
        for parameter in attention.parameters():
            nn.init.normal_(parameter, std=1.3 * parameter.shape[-1] ** -0.5)
    x = _leaf(case["x"])
    seen = _plain(answer(case["x"], case["memory"], case["target"], case["source"], *attentions))
    again = answer(x * 1, case["memory"], case["target"], case["source"], *attentions)
    return _at_real_tokens(seen, case), *_gradients(_at_real_tokens(again, case), [x])


def _at_real_tokens(output, case):
    """What stands at the target's padding is nobody's business: it is set to 0."""
    fits = isinstance(output, torch.Tensor) and output.shape == case["x"].shape
    return output * (case["target"] != 0)[..., None] if fits else output


def _kept(tokens):
    return (tokens != 0)[:, None, None, :]


def _causal(tokens):
    return masks.causal_mask(tokens.shape[1])


def _both_attentions(back=lambda t, s: _kept(t) & _causal(t), across=lambda t, s: _kept(s), add=lambda x, y: x + y):
    """The two attentions of a decoder layer; ``back`` and ``across`` make their masks of the target and the source."""

    def answer(x, memory, target, source, self_attention, cross_attention):
        x = add(x, self_attention(x, mask=back(target, source)))
        return add(x, cross_attention(x, memory, memory, mask=across(target, source)))

    return answer


def _full_mask(t, s):
    return (s != 0)[:, None, None].expand(-1, -1, t.shape[1], -1)


def _mask_by_loop(t, s):
    return torch.stack([torch.tensor([[bool(token) for token in row]]) for row in s.tolist()])[:, None]


_CAUSAL_MEMORY = (
    "cross-attention is causal: target position i sees only the first source positions.",
    "the source is no future: hide its padding and nothing else.",
)

BUG = Exercise(
    number="9.8",
    title="Find the bug",
    points=3,
    inputs=_bug_inputs,
    reference=_both_attentions(),
    returns=("output", "gradient of x"),
    call=_run_attentions,
    off_limits=_READY_MADE,
    atol=2e-5,
    alternatives=(
        Alternative("the course's mask", _both_attentions(across=lambda t, s: masks.padding_mask(s, 0))),
        Alternative("full shape", _both_attentions(across=_full_mask)),
        Alternative("loop", _both_attentions(across=_mask_by_loop)),
        Alternative(
            "padding of the target asks nothing",
            _both_attentions(across=lambda t, s: _kept(s) & (t != 0)[:, None, :, None]),
        ),
        Alternative(
            "combined by the course",
            _both_attentions(back=lambda t, s: masks.combine_masks(masks.padding_mask(t, 0), _causal(t))),
        ),
    ),
    mistakes=(
        Mistake(
            "as it was",
            _both_attentions(across=lambda t, s: _kept(t) & _causal(t)),
            "the function as it was: cross-attention still gets the target's mask.",
            "the keys of cross-attention are the source's tokens: make a mask of source.",
        ),
        Mistake(
            "target's padding",
            _both_attentions(across=lambda t, s: _kept(t)),
            "no longer causal, but cross-attention still hides the padding of the target.",
            "its keys are the source's tokens: compare source with 0, not target.",
        ),
        Mistake(
            "no mask across",
            _both_attentions(across=lambda t, s: None),
            "cross-attention got no mask: the padding of the source is seen.",
            "make a mask of source, True where its tokens are not 0.",
        ),
        Mistake(
            "causal memory",
            _both_attentions(across=lambda t, s: _kept(s) & torch.ones(t.shape[1], s.shape[1]).tril().bool()),
            *_CAUSAL_MEMORY,
        ),
        Mistake(
            "causal memory, square",
            _both_attentions(across=lambda t, s: _kept(s) & _causal(t)),
            *_CAUSAL_MEMORY,
        ),
        Mistake(
            "causal memory of the source's size",
            _both_attentions(across=lambda t, s: _kept(s) & _causal(s)),
            *_CAUSAL_MEMORY,
        ),
        Mistake(
            "rows instead of columns",
            _both_attentions(across=lambda t, s: (s != 0)[:, None, :, None]),
            "the source's padding was put on the rows, which are the queries.",
            "(B, 1, 1, L_s): the keys are the last axis.",
        ),
        Mistake(
            "inverted",
            _both_attentions(across=lambda t, s: ~_kept(s)),
            "the mask is turned around: only the padding of the source is seen.",
            "True = may attend: source != 0.",
        ),
        Mistake(
            "one mask for the batch",
            _both_attentions(across=lambda t, s: _kept(s)[:1]),
            "the mask of the first source was used for the whole batch.",
            "keep the batch axis.",
        ),
        Mistake(
            "self-attention sees the future",
            _both_attentions(back=lambda t, s: _kept(t)),
            "cross-attention is mended, but self-attention lost its causal mask.",
            "leave the target's mask as it was, for self-attention.",
        ),
        Mistake(
            "self-attention sees padding",
            _both_attentions(back=lambda t, s: _causal(t)),
            "cross-attention is mended, but self-attention no longer hides the target's padding.",
            "leave the target's mask as it was, for self-attention.",
        ),
        Mistake(
            "no mask for self-attention",
            _both_attentions(back=lambda t, s: None),
            "cross-attention is mended, but self-attention lost its mask.",
            "leave the target's mask as it was, for self-attention.",
        ),
        Mistake(
            "source's mask for both",
            _both_attentions(back=lambda t, s: _kept(s)),
            "both attentions got the source's mask.",
            "self-attention keeps the target's mask; only cross-attention needs another.",
        ),
        Mistake(
            "masks exchanged",
            _both_attentions(back=lambda t, s: _kept(s), across=lambda t, s: _kept(t) & _causal(t)),
            "the two masks are exchanged.",
            "self-attention gets the target's, cross-attention the source's.",
        ),
        Mistake("in place", _both_attentions(add=lambda x, y: x.add_(y)), *_X_CHANGED),
        Mistake(
            "nothing added",
            _both_attentions(add=lambda x, y: y),
            "the masks are right, but x is no longer added.",
            "leave the two sums as they were.",
        ),
    ),
    advice="change a padding token of the source: no output may move. Change a real one: every target position may.",
)

# 9.9, 9.10 ------------------------------------------------------------------------------------------------------------

ORDER = Quiz(
    number="9.9",
    title="Which order is it?",
    points=1,
    right="c",
    options={
        "a": Option(
            "Look at the shapes of the parameters.",
            "both orders have the same parameters, so weights of one can be loaded into the other without a word.",
        ),
        "b": Option(
            "Look whether the training loss falls.",
            "with few layers both learn, so a falling loss tells nothing.",
        ),
        "c": Option(
            "Run fresh layers on any input: if each output vector has mean 0 and mean square 1, it is post-norm.",
            "a post-norm layer ends in a norm, and a fresh norm gives just that. The sum that a pre-norm layer ends in "
            "does not.",
        ),
        "d": Option(
            "Read the comment above the class.",
            "comments and code part ways: a widely read implementation describes post-norm and computes pre-norm.",
        ),
    },
)

SHARED = Quiz(
    number="9.10",
    title="Six layers or one",
    points=1,
    right="b",
    options={
        "a": Option(
            "Nothing: a ModuleList copies what it is given.",
            "it keeps what it is given. All six entries are one object.",
        ),
        "b": Option(
            "The stack has the parameters of one layer, and their gradients are the sums over all six places.",
            "one module in six places: parameters() counts it once, and every place adds to the same gradient.",
        ),
        "c": Option(
            "The stack has six sets of parameters that start from the same numbers.",
            "that is what six deep copies would be. Here nothing was copied.",
        ),
        "d": Option(
            "It stops with an error, since a parameter is registered twice.",
            "sharing parameters is allowed, and sometimes meant; so nothing complains.",
        ),
    },
)

EXERCISES = (
    LAYER_NORM,
    RMS_NORM,
    FEED_FORWARD,
    RESIDUAL,
    ENCODER_LAYER,
    DECODER_LAYER,
    STACK,
    BUG,
    ORDER,
    SHARED,
)
