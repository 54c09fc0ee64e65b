"""Answers that the first tables of lesson 09 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import copy
import functools
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import layers, masks, multi_head
from . import Answers, Right, Wrong


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
        variance = sum(((number - mean) ** 2 for number in row)) / len(row)
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


LAYER_NORM = Answers(
    number="9.1",
    alternatives=(
        Right("loop over the vectors", _normed_loop),
        Right("var_mean and rsqrt", _normed_var_mean),
        Right("einsum", _normed_einsum),
        Right("mean of squares", _normed(spread=lambda x, d: (x - x.mean(d, True)).pow(2).mean(d, True))),
        Right("power one half", _normed(root=lambda v, eps: (v + eps) ** 0.5)),
        Right(
            "deviation squared",
            _normed(
                spread=lambda x, d: x.std(d, unbiased=False, keepdim=True), root=lambda s, eps: (s**2 + eps).sqrt()
            ),
        ),
        Right("PyTorch's own", lambda x, w, b, eps: F.layer_norm(x, w.shape, w, b, eps), off_limits=True),
        Right("the course's own", lambda x, w, b, eps: layers.norms.layer_norm(x, w, b, eps), off_limits=True),
    ),
    mistakes=(
        Wrong("unbiased variance", _normed(spread=lambda x, d: x.var(d, keepdim=True))),
        Wrong("epsilon outside", _normed(root=lambda v, eps: v.sqrt() + eps)),
        Wrong(
            "unbiased, epsilon outside",
            _normed(spread=lambda x, d: x.var(d, keepdim=True), root=lambda v, eps: v.sqrt() + eps),
        ),
        Wrong(
            "epsilon outside, deviation by std",
            _normed(spread=lambda x, d: x.std(d, unbiased=False, keepdim=True), root=lambda s, eps: s + eps),
        ),
        Wrong(
            "unbiased, epsilon outside, by std",
            _normed(spread=lambda x, d: x.std(d, keepdim=True), root=lambda s, eps: s + eps),
        ),
        Wrong("no epsilon", _normed(root=lambda v, eps: v.sqrt())),
        Wrong("epsilon fixed", _normed(eps_given=1e-05)),
        Wrong("epsilon as a limit", _normed(root=lambda v, eps: v.clamp(min=eps).sqrt())),
        Wrong("divided by the variance", _normed(root=lambda v, eps: v + eps)),
        Wrong("over the positions", _normed(dim=1)),
        Wrong("over the batch", _normed(dim=0)),
        Wrong("over positions and features", _normed(dim=(1, 2))),
        Wrong("over everything", _normed(dim=(0, 1, 2))),
        Wrong("RMSNorm", _normed(center=lambda x, d: x, spread=lambda x, d: x.pow(2).mean(d, True))),
        Wrong("mean square for the variance", _normed(spread=lambda x, d: x.pow(2).mean(d, True))),
        Wrong("mean left in", _normed(center=lambda x, d: x)),
        Wrong("mean distance", _normed(spread=lambda x, d: (x - x.mean(d, True)).abs().mean(d, True).pow(2))),
        Wrong("weight missing", _normed(finish=lambda y, w, b: y + b)),
        Wrong("bias missing", _normed(finish=lambda y, w, b: y * w)),
        Wrong("weight and bias missing", _normed(finish=lambda y, w, b: y)),
        Wrong("bias first", _normed(finish=lambda y, w, b: (y + b) * w)),
        Wrong("weight and bias exchanged", _normed(finish=lambda y, w, b: y * b + w)),
        Wrong("one plus weight", _normed(finish=lambda y, w, b: y * (1 + w) + b)),
        Wrong(
            "gradient cut in the statistics",
            _normed(
                center=lambda x, d: x - x.mean(d, True).detach(),
                spread=lambda x, d: x.var(d, unbiased=False, keepdim=True).detach(),
            ),
        ),
        Wrong(
            "gradient cut in the variance", _normed(spread=lambda x, d: x.var(d, unbiased=False, keepdim=True).detach())
        ),
        Wrong("gradient cut", lambda x, w, b, eps: _normed()(x.detach(), w, b, eps)),
        Wrong("in place", _in_place),
        Wrong("in place twice", _in_place_twice),
    ),
)


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
    rows = [row / (sum((number**2 for number in row)) / len(row) + eps) ** 0.5 for row in x.reshape(-1, x.shape[-1])]
    return torch.stack(rows).view(x.shape) * weight


def _rms_in_place(x, weight, eps):
    x /= (x.pow(2).mean(-1, keepdim=True) + eps).sqrt()
    return x * weight


RMS_NORM = Answers(
    number="9.2",
    alternatives=(
        Right("loop over the vectors", _rms_loop),
        Right("rsqrt", lambda x, w, eps: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * w),
        Right("einsum", _rms(spread=lambda x, d: torch.einsum("bld,bld->bl", x, x)[..., None] / x.shape[-1])),
        Right("length squared", _rms(spread=lambda x, d: (x * x).sum(-1, True) / x.shape[-1])),
        Right("weight first", lambda x, w, eps: x * w / (x.pow(2).mean(-1, True) + eps) ** 0.5),
        Right("PyTorch's own", lambda x, w, eps: F.rms_norm(x, w.shape, w, eps), off_limits=True),
        Right("the course's own", lambda x, w, eps: layers.norms.rms_norm(x, w, eps), off_limits=True),
    ),
    mistakes=(
        Wrong(
            "mean taken off",
            _rms(center=lambda x, d: x - x.mean(d, True), spread=lambda x, d: x.var(d, unbiased=False, keepdim=True)),
        ),
        Wrong("mean taken off above only", _rms(center=lambda x, d: x - x.mean(d, True))),
        Wrong("divided by the deviation", _rms(spread=lambda x, d: x.var(d, unbiased=False, keepdim=True))),
        Wrong("divided by the unbiased deviation", _rms(spread=lambda x, d: x.var(d, keepdim=True))),
        Wrong("sum for the mean", _rms(spread=lambda x, d: x.pow(2).sum(d, True))),
        Wrong("unbiased", _rms(spread=lambda x, d: x.pow(2).sum(d, True) / (x.shape[-1] - 1))),
        Wrong("epsilon outside", _rms(root=lambda s, eps: s.sqrt() + eps)),
        Wrong("no epsilon", _rms(root=lambda s, eps: s.sqrt())),
        Wrong("epsilon fixed", _rms(eps_given=1e-05)),
        Wrong("epsilon as a limit", _rms(root=lambda s, eps: s.clamp(min=eps).sqrt())),
        Wrong("no root", _rms(root=lambda s, eps: s + eps)),
        Wrong("mean size", _rms(spread=lambda x, d: x.abs().mean(d, True).pow(2))),
        Wrong("over the positions", _rms(dim=1)),
        Wrong("over the batch", _rms(dim=0)),
        Wrong("over positions and features", _rms(dim=(1, 2))),
        Wrong("over everything", _rms(dim=(0, 1, 2))),
        Wrong("weight missing", _rms(finish=lambda y, w: y)),
        Wrong("one plus weight", _rms(finish=lambda y, w: y * (1 + w))),
        Wrong("weight added", _rms(finish=lambda y, w: y + w)),
        Wrong("F.normalize", lambda x, weight, eps: F.normalize(x, dim=-1) * x.shape[-1] ** 0.5 * weight),
        Wrong("gradient cut in the statistics", _rms(spread=lambda x, d: x.pow(2).mean(d, True).detach())),
        Wrong("gradient cut", lambda x, weight, eps: _rms()(x.detach(), weight, eps)),
        Wrong("in place", _rms_in_place),
    ),
)


def _linear(x, params, name, bias=True):
    return F.linear(x, params[f"{name}.weight"], params[f"{name}.bias"] if bias else None)


def _network(before=lambda x: x, between=F.relu, after=lambda y, x: y, up_bias=True, down_bias=True):
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


FEED_FORWARD = Answers(
    number="9.3",
    alternatives=(
        Right("loop over positions", _network_loop),
        Right("matrix product", _network_matmul),
        Right("einsum", _network_einsum),
        Right("convolution of width 1", _network_convolution),
        Right("modules", _network_modules),
        Right("maximum", _network(between=lambda y: torch.maximum(y, torch.zeros(())))),
        Right("the course's own", _network_course, off_limits=True),
    ),
    mistakes=(
        Wrong("no ReLU", _network(between=lambda y: y)),
        Wrong("ReLU at the end", _network(between=lambda y: y, after=lambda y, x: y.relu())),
        Wrong("ReLU twice", _network(after=lambda y, x: y.relu())),
        Wrong("ReLU first", _network(before=F.relu, between=lambda y: y)),
        Wrong("GELU", _network(between=F.gelu)),
        Wrong("SiLU", _network(between=F.silu)),
        Wrong("sigmoid", _network(between=torch.sigmoid)),
        Wrong("tanh", _network(between=torch.tanh)),
        Wrong("leaky ReLU", _network(between=F.leaky_relu)),
        Wrong("absolute value", _network(between=torch.abs)),
        Wrong("softmax", _network(between=lambda y: y.softmax(-1))),
        Wrong("no biases", _network(up_bias=False, down_bias=False)),
        Wrong("no first bias", _network(up_bias=False)),
        Wrong("no second bias", _network(down_bias=False)),
        Wrong(
            "bias after ReLU",
            lambda x, p: _linear(_linear(x, p, "up_proj", False).relu() + p["up_proj.bias"], p, "down_proj"),
        ),
        Wrong("residual added", _network(after=lambda y, x: x + y)),
        Wrong("matrices not transposed", _network_untransposed),
        Wrong("positions mixed", lambda x, p: _network()(x.mean(1, keepdim=True).expand_as(x), p)),
        Wrong("gradient cut", _network(after=lambda y, x: y.detach())),
    ),
)


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


RESIDUAL = Answers(
    number="9.4",
    alternatives=(
        Right("two branches", _residual(_pre, _post)),
        Right("functional dropout", _both(_functional_residual)),
        Right("torch.add", _residual(lambda s, x, f: torch.add(s.dropout(f(s.norm(x))), x))),
        Right("the course's own", _CourseResidual, off_limits=True),
    ),
    mistakes=(
        Wrong("always pre-norm", _both(_pre)),
        Wrong("always post-norm", _both(_post)),
        Wrong("orders exchanged", _residual(_post, _pre)),
        Wrong(
            "nothing added", _residual(lambda s, x, f: s.dropout(f(s.norm(x))), lambda s, x, f: s.norm(s.dropout(f(x))))
        ),
        Wrong("no norm", _both(lambda s, x, f: x + s.dropout(f(x)))),
        Wrong("normalized x added", _residual(lambda s, x, f: s.norm(x) + s.dropout(f(s.norm(x))))),
        Wrong("norm on the direct path only", _residual(lambda s, x, f: s.norm(x) + s.dropout(f(x)))),
        Wrong("norm of the change only", _residual(post=lambda s, x, f: x + s.norm(s.dropout(f(x))))),
        Wrong("norm of the change before dropout", _residual(post=lambda s, x, f: x + s.dropout(s.norm(f(x))))),
        Wrong(
            "normalized twice", _residual(lambda s, x, f: s.norm(_pre(s, x, f)), lambda s, x, f: s.norm(_pre(s, x, f)))
        ),
        Wrong("dropout missing", _residual(lambda s, x, f: x + f(s.norm(x)), lambda s, x, f: s.norm(x + f(x)))),
        Wrong(
            "dropout on the sum",
            _residual(lambda s, x, f: s.dropout(x + f(s.norm(x))), lambda s, x, f: s.norm(s.dropout(x + f(x)))),
        ),
        Wrong(
            "dropout on the result",
            _residual(lambda s, x, f: s.dropout(x + f(s.norm(x))), lambda s, x, f: s.dropout(s.norm(x + f(x)))),
        ),
        Wrong(
            "dropout before the sublayer",
            _residual(lambda s, x, f: x + f(s.dropout(s.norm(x))), lambda s, x, f: s.norm(x + f(s.dropout(x)))),
        ),
        Wrong(
            "dropout on x",
            _residual(lambda s, x, f: s.dropout(x) + f(s.norm(x)), lambda s, x, f: s.norm(s.dropout(x) + f(x))),
        ),
        Wrong(
            "x added twice",
            _residual(lambda s, x, f: 2 * x + s.dropout(f(s.norm(x))), lambda s, x, f: s.norm(2 * x + s.dropout(f(x)))),
        ),
        Wrong(
            "direct path cut",
            _residual(lambda s, x, f: _pre(s, x, f) - x + x.detach(), lambda s, x, f: s.norm(x.detach() + f(x))),
        ),
        Wrong("in place", _both(_added_in_place)),
        Wrong("in place, the same tensor", _both(_added_to_the_same)),
        Wrong("dropout missing after the norm", _residual(pre=lambda s, x, f: x + f(s.norm(x)))),
        Wrong("dropout missing before the norm", _residual(post=lambda s, x, f: s.norm(x + f(x)))),
        Wrong("always dropped", _both(_always_dropped)),
    ),
)


class _Encoder(nn.Module):
    """An encoder layer with the constructor that the exercise gives; the mistakes change one of its steps."""

    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = multi_head.MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = layers.FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = (layers.LayerNorm(d_model), layers.LayerNorm(d_model))
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

    attention, network = (self.self_attention, self.feed_forward)
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
    return (self.around(x, self.feed_forward, self.norm_2, 2), kept[0])


class _CourseEncoder(layers.EncoderLayer):
    """The course's own, with the constructor that the exercise gives, and its names."""

    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout, pre_norm=pre_norm)
        self.norm_1, self.norm_2 = (self.attention_norm, self.feed_forward_norm)


ENCODER_LAYER = Answers(
    number="9.5",
    alternatives=(
        Right("spelled out", _encoder(forward=_encoder_spelled_out)),
        Right("functional dropout", _encoder(forward=_encoder_functional)),
        Right("asking for the weights", _encoder(forward=_encoder_with_weights)),
        Right("the course's own", _CourseEncoder, off_limits=True),
    ),
    mistakes=(
        Wrong("always pre-norm", _encoder(around=_around(post=_pre_form))),
        Wrong("always post-norm", _encoder(around=_around(pre=_post_form))),
        Wrong("orders exchanged", _encoder(around=_around(_post_form, _pre_form))),
        Wrong("orders mixed", _encoder(around=_around(_post_form, _pre_form, only=2))),
        Wrong("mask not used", _encoder(attend=lambda self, x, mask: self.self_attention(x))),
        Wrong("mask inverted", _encoder(attend=lambda self, x, mask: self.self_attention(x, mask=~mask))),
        Wrong("first norm twice", _encoder(forward=_norms_by_number(1, 1))),
        Wrong("second norm twice", _encoder(forward=_norms_by_number(2, 2))),
        Wrong("norms exchanged", _encoder(forward=_norms_by_number(2, 1))),
        Wrong(
            "no residual around the attention",
            _encoder(around=_around(lambda x, f, n, d: d(f(n(x))), lambda x, f, n, d: n(d(f(x))), only=1)),
        ),
        Wrong(
            "no residual around the network",
            _encoder(around=_around(lambda x, f, n, d: d(f(n(x))), lambda x, f, n, d: n(d(f(x))), only=2)),
        ),
        Wrong(
            "no residual at all", _encoder(around=_around(lambda x, f, n, d: d(f(n(x))), lambda x, f, n, d: n(d(f(x)))))
        ),
        Wrong("normalized x added", _encoder(around=_around(lambda x, f, n, d: n(x) + d(f(n(x)))))),
        Wrong("norm of the change only", _encoder(around=_around(post=lambda x, f, n, d: x + n(d(f(x)))))),
        Wrong("keys and values not normalized", _encoder(forward=_raw_keys)),
        Wrong("added to the start", _encoder(forward=_adds_to_the_start)),
        Wrong("side by side", _encoder(forward=_parallel)),
        Wrong("network first", _encoder(forward=_network_first)),
        Wrong("no feed-forward network", _encoder(forward=_one_by_one)),
        Wrong("no attention", _encoder(forward=_only_network)),
        Wrong("no norms", _encoder(around=_around(lambda x, f, n, d: x + d(f(x)), lambda x, f, n, d: x + d(f(x))))),
        Wrong("no dropout", _encoder(around=_around(lambda x, f, n, d: x + f(n(x)), lambda x, f, n, d: n(x + f(x))))),
        Wrong(
            "dropout on the network only",
            _encoder(around=_around(lambda x, f, n, d: x + f(n(x)), lambda x, f, n, d: n(x + f(x)), only=1)),
        ),
        Wrong(
            "dropout on the attention only",
            _encoder(around=_around(lambda x, f, n, d: x + f(n(x)), lambda x, f, n, d: n(x + f(x)), only=2)),
        ),
        Wrong(
            "dropout on the sum",
            _encoder(around=_around(lambda x, f, n, d: d(x + f(n(x))), lambda x, f, n, d: n(d(x + f(x))))),
        ),
        Wrong("in place", _encoder(forward=_encoder_in_place)),
        Wrong("in place twice", _encoder(forward=_encoder_in_place_twice)),
        Wrong("in place, both orders", _encoder(forward=_encoder_in_place_both)),
        Wrong("weights handed back too", _encoder(forward=_with_weights_returned)),
        Wrong("gradient cut", _encoder(forward=lambda self, x, mask: _Encoder.forward(self, x, mask).detach())),
    ),
)


class _Decoder(nn.Module):
    """A decoder layer with the constructor that the exercise gives; the mistakes change one of its steps."""

    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = multi_head.MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = multi_head.MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = layers.FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = (layers.LayerNorm(d_model), layers.LayerNorm(d_model))
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
    return _decoder(order=tuple((name for name, _ in kept)), numbers=tuple((number for _, number in kept)))


class _CourseDecoder(layers.DecoderLayer):
    """The course's own, with the constructor that the exercise gives, and its names."""

    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = (self.attention_norm, self.cross_attention_norm)
        self.norm_3 = self.feed_forward_norm

    def forward(self, x, memory, target_mask, memory_mask):
        return super().forward(x, memory, target_mask=target_mask, memory_mask=memory_mask)


DECODER_LAYER = Answers(
    number="9.6",
    alternatives=(
        Right("spelled out", _decoder(forward=_decoder_spelled_out)),
        Right("memory projected first", _decoder(forward=_decoder_projected)),
        Right("asking for the weights", _decoder(forward=_decoder_with_weights)),
        Right("the course's own", _CourseDecoder, off_limits=True),
    ),
    mistakes=(
        Wrong(
            "target's mask for the memory",
            _across(lambda a, y, memory, target_mask, memory_mask: a(y, memory, memory, mask=target_mask)),
        ),
        Wrong(
            "memory's mask for the target", _back(lambda a, y, memory, target_mask, memory_mask: a(y, mask=memory_mask))
        ),
        Wrong(
            "masks exchanged",
            _decoder(
                look_back=lambda self, y, memory, t, m: self.self_attention(y, mask=m),
                look_across=lambda self, y, memory, t, m: self.cross_attention(y, memory, memory, mask=t),
            ),
        ),
        Wrong("no mask for the memory", _across(lambda a, y, memory, target_mask, memory_mask: a(y, memory, memory))),
        Wrong("no mask for the target", _back(lambda a, y, memory, target_mask, memory_mask: a(y))),
        Wrong(
            "no masks",
            _decoder(
                look_back=lambda self, y, memory, t, m: self.self_attention(y),
                look_across=lambda self, y, memory, t, m: self.cross_attention(y, memory, memory),
            ),
        ),
        Wrong("self-attention twice", _across(lambda a, y, memory, target_mask, memory_mask: a(y, mask=target_mask))),
        Wrong("memory asks", _across(lambda a, y, memory, target_mask, memory_mask: a(memory, y, y))),
        Wrong(
            "memory normalized",
            _decoder(
                look_across=lambda self, y, memory, t, m: self.cross_attention(
                    y, self.norm_2(memory), self.norm_2(memory), mask=m
                )
            ),
        ),
        Wrong("cross-attention before self-attention", _decoder(order=("look across", "look back", "think"))),
        Wrong(
            "cross-attention before self-attention, norms moved along",
            _decoder(order=("look across", "look back", "think"), numbers=(2, 1, 3)),
        ),
        Wrong("network before cross-attention", _decoder(order=("look back", "think", "look across"))),
        Wrong("no cross-attention", _without("look across")),
        Wrong("no self-attention", _without("look back")),
        Wrong("no feed-forward network", _without("think")),
        Wrong("one norm for all", _decoder(numbers=(1, 1, 1))),
        Wrong("first norm twice", _decoder(numbers=(1, 1, 3))),
        Wrong("second norm twice", _decoder(numbers=(1, 2, 2))),
        Wrong("last norms exchanged", _decoder(numbers=(1, 3, 2))),
        Wrong("first norms exchanged", _decoder(numbers=(2, 1, 3))),
        Wrong("post-norm", _decoder(around=_around(pre=_post_form))),
        Wrong("no norm before cross-attention", _decoder(around=_around(lambda x, f, n, d: x + d(f(x)), only=2))),
        Wrong("no norms", _decoder(around=_around(lambda x, f, n, d: x + d(f(x))))),
        Wrong("normalized x added", _decoder(around=_around(lambda x, f, n, d: n(x) + d(f(n(x)))))),
        Wrong("no residual around cross-attention", _decoder(around=_around(lambda x, f, n, d: d(f(n(x))), only=2))),
        Wrong("no residual at all", _decoder(around=_around(lambda x, f, n, d: d(f(n(x)))))),
        Wrong("self-attention's result lost", _decoder(forward=_self_result_lost)),
        Wrong("no dropout", _decoder(around=_around(lambda x, f, n, d: x + f(n(x))))),
        Wrong("no dropout on cross-attention", _decoder(around=_around(lambda x, f, n, d: x + f(n(x)), only=2))),
        Wrong("dropout on the sum", _decoder(around=_around(lambda x, f, n, d: d(x + f(n(x)))))),
        Wrong("in place", _decoder(forward=_decoder_in_place)),
        Wrong(
            "memory detached",
            _across(
                lambda a, y, memory, target_mask, memory_mask: a(y, memory.detach(), memory.detach(), mask=memory_mask)
            ),
        ),
        Wrong("gradient cut", _decoder(forward=lambda self, *given: _Decoder.forward(self, *given).detach())),
    ),
)


class _Stack(nn.Module):
    """A stack in the plainest form; the mistakes change one of its two methods."""

    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleList((make_layer() for _ in range(num_layers)))
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
        self.layers = build(make_layer, count) if build else nn.ModuleList((make_layer() for _ in range(count)))
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
        self.norm = nn.ModuleList((nn.LayerNorm(d_model) for _ in range(num_layers)))

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


STACK = Answers(
    number="9.7",
    alternatives=(
        Right("attributes with numbers", _NamedStack),
        Right("list, then ModuleList", _stack(lambda make, n: nn.ModuleList([make() for _ in range(n)]))),
        Right("Sequential as a list", _stack(lambda make, n: nn.Sequential(*(make() for _ in range(n))))),
        Right(
            "reduce",
            _stack(run=lambda s, x, mask: s.norm(functools.reduce(lambda y, layer: layer(y, mask), s.layers, x))),
        ),
    ),
    mistakes=(
        Wrong("one layer many times", _stack(lambda make, n: nn.ModuleList([make()] * n))),
        Wrong(
            "one layer in a loop",
            _stack(
                lambda make, n: make(),
                lambda s, x, mask: s.norm(functools.reduce(lambda y, _: s.layers(y, mask), range(s.count), x)),
            ),
        ),
        Wrong("first layer many times, others made in vain", _stack(_registered_twice)),
        Wrong("deep copies", _stack(lambda make, n: nn.ModuleList((copy.deepcopy(layer) for layer in [make()] * n)))),
        Wrong("plain list", _stack(lambda make, n: [make() for _ in range(n)])),
        Wrong("no final norm", _NoNorm),
        Wrong(
            "final norm made, not used",
            _stack(run=lambda s, x, mask: functools.reduce(lambda y, layer: layer(y, mask), s.layers, x)),
        ),
        Wrong("final norm without parameters", _FunctionalNorm),
        Wrong(
            "parameters of the final norm not used",
            _stack(run=lambda s, x, mask: F.layer_norm(_NoNorm.forward(s, x, mask), x.shape[-1:])),
        ),
        Wrong("one norm after each layer", _stack(run=_shared_norm)),
        Wrong("a norm after each layer", _NormEach),
        Wrong("norm before the first layer", _stack(run=_norm_first)),
        Wrong(
            "mask not used",
            _stack(run=lambda s, x, mask: s.norm(functools.reduce(lambda y, layer: layer(y, None), s.layers, x))),
        ),
        Wrong("mask for the first layer only", _stack(run=_first_masked)),
        Wrong("each layer on the input", _stack(run=_last_only)),
        Wrong("residual around the layers", _stack(run=_residual_around_layers)),
        Wrong("backwards", _stack(run=_reversed)),
        Wrong("one too many", _stack(more=1)),
        Wrong("one too few", _stack(more=-1)),
        Wrong("gradient cut", _stack(run=lambda s, x, mask: _Stack.forward(s, x, mask).detach())),
    ),
)


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


BUG = Answers(
    number="9.8",
    alternatives=(
        Right("the course's mask", _both_attentions(across=lambda t, s: masks.padding_mask(s, 0))),
        Right("full shape", _both_attentions(across=_full_mask)),
        Right("loop", _both_attentions(across=_mask_by_loop)),
        Right(
            "padding of the target asks nothing",
            _both_attentions(across=lambda t, s: _kept(s) & (t != 0)[:, None, :, None]),
        ),
        Right(
            "combined by the course",
            _both_attentions(back=lambda t, s: masks.combine_masks(masks.padding_mask(t, 0), _causal(t))),
        ),
    ),
    mistakes=(
        Wrong("as it was", _both_attentions(across=lambda t, s: _kept(t) & _causal(t))),
        Wrong("target's padding", _both_attentions(across=lambda t, s: _kept(t))),
        Wrong("no mask across", _both_attentions(across=lambda t, s: None)),
        Wrong(
            "causal memory",
            _both_attentions(across=lambda t, s: _kept(s) & torch.ones(t.shape[1], s.shape[1]).tril().bool()),
        ),
        Wrong("causal memory, square", _both_attentions(across=lambda t, s: _kept(s) & _causal(t))),
        Wrong("causal memory of the source's size", _both_attentions(across=lambda t, s: _kept(s) & _causal(s))),
        Wrong("rows instead of columns", _both_attentions(across=lambda t, s: (s != 0)[:, None, :, None])),
        Wrong("inverted", _both_attentions(across=lambda t, s: ~_kept(s))),
        Wrong("one mask for the batch", _both_attentions(across=lambda t, s: _kept(s)[:1])),
        Wrong("self-attention sees the future", _both_attentions(back=lambda t, s: _kept(t))),
        Wrong("self-attention sees padding", _both_attentions(back=lambda t, s: _causal(t))),
        Wrong("no mask for self-attention", _both_attentions(back=lambda t, s: None)),
        Wrong("source's mask for both", _both_attentions(back=lambda t, s: _kept(s))),
        Wrong(
            "masks exchanged", _both_attentions(back=lambda t, s: _kept(s), across=lambda t, s: _kept(t) & _causal(t))
        ),
        Wrong("in place", _both_attentions(add=lambda x, y: x.add_(y))),
        Wrong("nothing added", _both_attentions(add=lambda x, y: y)),
    ),
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
)
