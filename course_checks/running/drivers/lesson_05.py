"""Lesson 05: the functions whose table of who sees whom is asked for."""

import torch
import torch.nn.functional as F


def detector(answer, case):
    """The table of a function that the case names; the answer gets the function itself."""
    table = answer(_function(case["attend"]), case["x"])
    if case["x"].requires_grad:
        raise ValueError("x itself asks for gradients after your call; leave it as it is, and ask on a copy")
    return table


def _function(name):
    run = _FUNCTIONS[name]

    def attend(x):  # not a partial: its arguments would tell the name
        return run(name, x)

    return attend


def _attention(name, x):
    """Self-attention in which the queries see what the name says."""
    if name.startswith("normalized first"):
        x = F.layer_norm(x, x.shape[-1:], eps=1e-12)
    B, L, d = x.shape
    rng = torch.Generator().manual_seed(d)
    w_q, w_k, w_v = (torch.randn(3, d, d, generator=rng) / d**0.5).to(x)
    scores = 0.2 * (x @ w_q) @ (x @ w_k).transpose(-2, -1) / d**0.5  # mild, so that nobody is seen too faintly
    if name == "future zeroed after the softmax":
        return torch.softmax(scores, -1).tril() @ (x @ w_v)
    return torch.softmax(scores.masked_fill(~_seen(name, B, L), -torch.inf), -1) @ (x @ w_v)


def _seen(name, B, L):
    behind = torch.arange(L)[:, None] - torch.arange(L)  # how far key j lies behind query i
    ahead = {"one step ahead": 1, "three steps ahead only": 3}.get(name)
    mask = ((behind >= 0) | (behind == -(ahead or L))).expand(B, L, L).clone()
    if name in ("no mask", "normalized first"):
        mask[:] = True
    elif name == "window of 2":
        mask &= behind < 2
    elif name == "only the first query sees the future":
        mask[:, 0, 1:2] = True
    elif name == "sees ahead in the second item only":
        mask[1:] = True
    elif name == "one query sees the next key":
        mask[:, 1:2, 2:3] = True
    elif name == "each token by itself":
        mask &= behind == 0
    return mask


def _running_mean(name, x):
    return x.cumsum(1) / torch.arange(1, x.shape[1] + 1)[:, None]


def _opposite(name, x):
    """The mean of all tokens is added to one entry and subtracted from the next."""
    far = x.mean(1, keepdim=True)[..., :1]
    return x + torch.cat([far, -far, torch.zeros_like(x[:, :1, 2:])], dim=-1)


def _turned(name, x):
    """Each token is turned by an angle that all tokens decide on: no entry is lost, no length changes."""
    angle = x.mean((1, 2), keepdim=True)
    a, b = x[..., :1], x[..., 1:2]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos(), x[..., 2:]], dim=-1)


def _rounding(name, x):
    """A running mean whose last digits depend on all tokens, as they do where sums are taken in another order."""
    wobble = 2e-7 * torch.sign(torch.sin(100 * x.sum((1, 2), keepdim=True)))  # its gradient is 0, as that of rounding
    mean = _running_mean(name, x)
    return torch.cat([mean[..., :1] + wobble, mean[..., 1:]], dim=-1)


def _there_and_back(name, x):
    """Divided by sizes that all tokens decide on, and multiplied by them: what is left of them is gradients of about 1e-17."""
    sizes = [x.double().abs().pow(power).mean() for power in (1, 2, 3, 4, 5, 6)]
    result = x.double()
    for size in sizes:
        result = result / size
    result = _running_mean(name, result)
    for size in sizes:
        result = result * size
    return result.to(x.dtype)


_ATTEND = (
    *("causal", "no mask", "one step ahead", "three steps ahead only", "window of 2", "each token by itself"),
    *("only the first query sees the future", "sees ahead in the second item only", "one query sees the next key"),
    *("future zeroed after the softmax", "normalized first", "normalized first, causal"),
)

_FUNCTIONS = {
    **dict.fromkeys(_ATTEND, _attention),
    "running mean": _running_mean,
    "mean of the past without itself": lambda name, x: F.pad(_running_mean(name, x), (0, 0, 1, 0))[:, :-1],
    "faint": lambda name, x: x + 1e-3 * torch.tanh(x.mean(1, keepdim=True)),
    "fainter": lambda name, x: x + 6e-4 * torch.tanh(x.mean(1, keepdim=True)),
    "one entry of each token moves back": lambda name, x: torch.cat([x[..., :-1], x[..., -1:].roll(-1, 1)], dim=-1),
    "two layers with windows of 2": lambda name, x: _attention("window of 2", _attention("window of 2", x)),
    "normalized last": lambda name, x: F.layer_norm(_attention("no mask", x) + x, x.shape[-1:]),
    "opposite changes in two entries": _opposite,
    "tokens turned, their lengths kept": _turned,
    "running mean, its last digits from all tokens": _rounding,
    "running mean, divided by common sizes and multiplied by them again": _there_and_back,
}

SHOWN = {"detector": lambda case: {"attend": _function(case["attend"]), "x": case["x"]}}
