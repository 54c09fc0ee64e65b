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
    "course_utils.layers.blocks.Residual",
    "course_utils.layers.blocks.EncoderLayer",
    "course_utils.layers.blocks.DecoderLayer",
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
    seen = answer(*case.values())
    x = case["x"].clone().requires_grad_()
    again = answer(*(case | {"x": x}).values())
    return seen, _gradients(again, [x])[0]


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
        Mistake(
            "root taken and squared again",
            _normed(
                spread=lambda x, d: x.std(d, unbiased=False, keepdim=True), root=lambda s, eps: (s**2 + eps).sqrt()
            ),
            "the deviation squared: the output is right, but at a vector of equal numbers the gradient is NaN.",
            "start from the variance, x.var(...): the root of 0 has no slope, so epsilon must be added before it.",
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
        Mistake(
            "in place",
            _in_place,
            "the output is right, but x itself was changed: the residual connection still needs it.",
            "compute a new tensor, x - mean, instead of x -= mean.",
        ),
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
            "gradient cut in the statistics",
            _rms(spread=lambda x, d: x.pow(2).mean(d, True).detach()),
            *_DETACHED,
        ),
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
        raise ValueError(f"{name} must be the layer that the constructor was given with")
    part.weight.copy_(weight)
    part.bias.copy_(bias)


def _run_residual(answer, case):
    """Output and gradient without dropout, and the output with it: all draw their random numbers from one seed."""
    residual = answer(case["x"].shape[-1], case["dropout"], case["pre_norm"])
    _put(residual, "norm", case["norm.weight"], case["norm.bias"])

    def sublayer(y):
        return torch.tanh(y @ case["matrix"].T) + 0.3

    residual.eval()
    seen = residual(case["x"], sublayer)
    x = case["x"].clone().requires_grad_()
    (gradient,) = _gradients(residual(x, sublayer), [x])
    residual.train()
    torch.manual_seed(1)
    trained = residual(case["x"], sublayer)
    return _plain(seen), gradient, _plain(trained)


def _plain(value):
    return value.detach() if isinstance(value, torch.Tensor) else value


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
        Mistake(
            "in place",
            _both(_added_in_place),
            "the output is right, but x itself was changed in place.",
            "compute a new tensor: x + change instead of x += change.",
        ),
    ),
    advice="write down both formulas of section 9.7, and go through yours from the inside out.",
)
