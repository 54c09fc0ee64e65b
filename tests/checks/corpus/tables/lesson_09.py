"""Answers that the first tables of lesson 09 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import copy
import functools
import math

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


def _gelu(x, by_tanh, root=2**0.5, inner=lambda x: x + 0.044715 * x**3, scale=(2 / math.pi) ** 0.5):
    if by_tanh:
        return 0.5 * x * (1 + torch.tanh(scale * inner(x)))
    return 0.5 * x * (1 + torch.erf(x / root))


def _gelu_erfc(x, by_tanh):
    if by_tanh:
        return x * torch.sigmoid(2 * (2 / math.pi) ** 0.5 * (x + 0.044715 * x**3))
    return 0.5 * x * torch.erfc(-x / math.sqrt(2))


def _gelu_signs(x, by_tanh):
    share = torch.erf(x.abs() / 2**0.5) * x.sign() / 2 + 0.5
    u = math.sqrt(2 / math.pi) * x * (1 + 0.044715 * x * x)
    return x * torch.where(torch.tensor(by_tanh), (1 + u.tanh()) / 2, share)


GELU = Answers(
    number="9.3",
    alternatives=(
        Right("the formulas", lambda x, by_tanh: _gelu(x, by_tanh)),
        Right("erfc and a sigmoid", _gelu_erfc),
        Right("both, then chosen", _gelu_signs),
        Right("F.gelu", lambda x, by_tanh: F.gelu(x, approximate="tanh" if by_tanh else "none"), off_limits=True),
    ),
    mistakes=(
        Wrong("always exact", lambda x, by_tanh: _gelu(x, False)),
        Wrong("always by tanh", lambda x, by_tanh: _gelu(x, True)),
        Wrong("exchanged", lambda x, by_tanh: _gelu(x, not by_tanh)),
        Wrong("erf of x", lambda x, by_tanh: _gelu(x, by_tanh, root=1.0)),
        Wrong("erf of half of x", lambda x, by_tanh: _gelu(x, by_tanh, root=2.0)),
        Wrong("no cube", lambda x, by_tanh: _gelu(x, by_tanh, inner=lambda x: x)),
        Wrong("square", lambda x, by_tanh: _gelu(x, by_tanh, inner=lambda x: x + 0.044715 * x**2)),
        Wrong("no root", lambda x, by_tanh: _gelu(x, by_tanh, scale=2 / math.pi)),
        Wrong("no factor", lambda x, by_tanh: _gelu(x, by_tanh, scale=1.0)),
        Wrong("share above", lambda x, by_tanh: x - _gelu(x, by_tanh) if not by_tanh else _gelu(x, True)),
        Wrong("twice", lambda x, by_tanh: 2 * _gelu(x, by_tanh)),
        Wrong("share itself", lambda x, by_tanh: 0.5 * (1 + torch.erf(x / 2**0.5)) if not by_tanh else _gelu(x, True) / x),
        Wrong("sigmoid", lambda x, by_tanh: x * torch.sigmoid(1.702 * x)),
        Wrong("SiLU", lambda x, by_tanh: F.silu(x)),
        Wrong("ReLU", lambda x, by_tanh: torch.relu(x)),
        Wrong("gradient cut", lambda x, by_tanh: _gelu(x.detach(), by_tanh)),
        Wrong("gradient of the share cut", lambda x, by_tanh: x * 0.5 * (1 + torch.erf(x.detach() / 2**0.5))
              if not by_tanh else _gelu(x, True)),
    ),
)  # fmt: skip


def _sandwich(x, attend, network, norms, wiring):
    for f, before, after in ((attend, *norms[:2]), (network, *norms[2:])):
        x = x + after(f(before(x)))
    return x


def _side_by_side(x, attend, network, norms, wiring):
    y = norms[0](x)
    return x + (attend(y) + network(y))


def _wired(sandwich=_sandwich, parallel=_side_by_side):
    return lambda *given: (sandwich if given[-1] == "sandwich" else parallel)(*given)


def _wired_in_place(x, attend, network, norms, wiring):
    if wiring == "parallel":
        y = norms[0](x)
        x += attend(y) + network(y)
        return x
    return _sandwich(x, attend, network, norms, wiring)


def _post_sandwich(x, attend, network, norms, wiring):
    x = norms[1](x + attend(norms[0](x)))
    return norms[3](x + network(norms[2](x)))


def _pre_wiring(x, attend, network, norms, wiring):
    x = x + attend(norms[0](x))
    return x + network(norms[-2 if len(norms) > 1 else 0](x))


WIRED = Answers(
    number="9.7",
    alternatives=(
        Right("a loop", _wired()),
        Right("by the number of norms",
              lambda x, a, n, norms, wiring: (_sandwich if len(norms) == 4 else _side_by_side)(x, a, n, norms, wiring)),
        Right("branches first", _wired(
            lambda x, a, n, norms, w: (y := x + norms[1](a(norms[0](x)))) + norms[3](n(norms[2](y))),
            lambda x, a, n, norms, w: sum((f(norms[0](x)) for f in (a, n)), x))),
    ),
    mistakes=(
        Wrong("always sandwich", lambda x, a, n, norms, w: _sandwich(x, a, n, [*norms, *norms, *norms, *norms][:4], w)),
        Wrong("always parallel", _wired(sandwich=_side_by_side)),
        Wrong("norm of the sum", _wired(_post_sandwich)),
        Wrong("pre-norm", _wired(_pre_wiring)),
        Wrong("pre-norm in both", _wired(_pre_wiring, _pre_wiring)),
        Wrong("norms in another order", _wired(lambda x, a, n, norms, w: _sandwich(x, a, n, [norms[i] for i in (0, 2, 1, 3)], w))),
        Wrong("first pair twice", _wired(lambda x, a, n, norms, w: _sandwich(x, a, n, norms[:2] * 2, w))),
        Wrong("network from the start", _wired(
            lambda x, a, n, norms, w: x + norms[1](a(norms[0](x))) + norms[3](n(norms[2](x))))),
        Wrong("one after the other", _wired(parallel=lambda x, a, n, norms, w: x + n(a(norms[0](x))))),
        Wrong("network reads x", _wired(parallel=lambda x, a, n, norms, w: x + a(norms[0](x)) + n(x))),
        Wrong("added to the normed", _wired(parallel=lambda x, a, n, norms, w: (y := norms[0](x)) + a(y) + n(y))),
        Wrong("x missing", _wired(parallel=lambda x, a, n, norms, w: a(norms[0](x)) + n(norms[0](x)))),
        Wrong("x twice", _wired(parallel=lambda x, a, n, norms, w: x + a(norms[0](x)) + (x + n(norms[0](x))))),
        Wrong("exchanged", _wired(lambda x, a, n, norms, w: _sandwich(x, n, a, norms, w))),
        Wrong("in place", _wired_in_place),
    ),
)  # fmt: skip


def _recorded(x, sublayers, keep=lambda x: x, on=lambda x, y: x + y):
    streams, added = [keep(x)], []
    for sublayer in sublayers:
        added.append(sublayer(x))
        x = on(x, added[-1])
        streams.append(keep(x))
    return streams, added


def _in_place_sum(x, y):
    x += y
    return x


def _recorded_backwards(x, sublayers):
    if not sublayers:
        return [x], []
    change = sublayers[0](x)
    streams, added = _recorded_backwards(x + change, sublayers[1:])
    return [x, *streams], [change, *added]


def _recorded_from_sums(x, sublayers):
    added = []
    for sublayer in sublayers:
        added.append(sublayer(sum(added, x)))
    return [sum(added[:n], x) for n in range(len(added) + 1)], added


def _added_as_differences(x, sublayers):
    streams, added = _recorded(x, sublayers)
    return streams, [after - streams[0] for after in streams[1:]]


def _later_copies(x, sublayers):
    streams, added = [x], []
    for sublayer in sublayers:
        added.append(sublayer(x))
        x += added[-1]
        streams.append(x.clone())
    return streams, added


RECORD = Answers(
    number="9.8",
    alternatives=(
        Right("a sum each time", lambda x, f: _recorded(x, f)),
        Right("recursion", _recorded_backwards),
        Right("sums of what was added", _recorded_from_sums),
        Right("copies and a sum", lambda x, f: _recorded(x, f, keep=torch.clone)),
        Right("tuples", lambda x, f: tuple(map(tuple, _recorded(x, f)))),
    ),
    mistakes=(
        Wrong("as it was", lambda x, f: _recorded(x, f, on=_in_place_sum)),
        Wrong("copies", lambda x, f: _recorded(x, f, keep=torch.clone, on=_in_place_sum)),
        Wrong("later copies", _later_copies),
        Wrong("one copy", lambda x, f: _recorded(x.clone(), f, on=_in_place_sum)),
        Wrong("detached", lambda x, f: _recorded(x, f, keep=lambda x: x.detach().clone())),
        Wrong("differences from the start", _added_as_differences),
        Wrong("start missing", lambda x, f: (lambda s, a: (s[1:], a))(*_recorded(x, f))),
        Wrong("end missing", lambda x, f: (lambda s, a: (s[:-1], a))(*_recorded(x, f))),
        Wrong("exchanged", lambda x, f: _recorded(x, f)[::-1]),
        Wrong("replaced", lambda x, f: _recorded(x, f, on=lambda x, y: y)),
        Wrong("all read the start", lambda x, f: ([sum((g(x) for g in f[:n]), x) for n in range(len(f) + 1)], [g(x) for g in f])),
        Wrong("streams only", lambda x, f: _recorded(x, f)[0]),
        Wrong("everything detached", lambda x, f: _recorded(x.detach(), f)),
    ),
)  # fmt: skip


EXERCISES = (LAYER_NORM, RMS_NORM, GELU, RESIDUAL, ENCODER_LAYER, DECODER_LAYER, WIRED, RECORD)
