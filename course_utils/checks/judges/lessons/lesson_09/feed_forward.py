"""The position-wise feed-forward network."""

import dataclasses

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.beside import cuts_gradients


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L, d_model, d_ff, dtype=torch.float32):
        params = {
            "up_proj.weight": torch.randn(d_ff, d_model, generator=rng) / d_model**0.5,
            "up_proj.bias": 0.5 * torch.randn(d_ff, generator=rng),
            "down_proj.weight": torch.randn(d_model, d_ff, generator=rng) / d_ff**0.5,
            "down_proj.bias": torch.randn(d_model, generator=rng),
        }
        x = torch.randn(B, L, d_model, generator=rng).to(dtype)
        return Case(x=x, params={name: value.to(dtype) for name, value in params.items()})

    sizes = ((1, 2, 3, 4), (2, 5, 6, 9), (3, 4, 5, 2), (2, 5, 6, 9), (2, 3, 4, 4, torch.float64))
    *cases, large = [case(*some) for some in (*sizes, (2, 4, 5, 7))]
    return [*cases, Case("the features are large", **large | {"x": 20 * large["x"]})]


def _feed_forward(
    x, params, *, before=lambda x: x, up=F.linear, between=lambda y, bias: F.relu(y), down=F.linear, clip=lambda y: y,
    after=lambda y, x: y,
):  # fmt: skip
    wide = up(before(x), params["up_proj.weight"], params["up_proj.bias"])
    result = down(between(wide, params["up_proj.bias"]), params["down_proj.weight"], params["down_proj.bias"])
    return after(clip(result), x)


def _no_bias(x, weight, bias):
    return x @ weight.T


def _cut_where_it_runs(view):
    """Numbers copied into fresh float32 layers: no gradient in the first wrong case, while float64 stops the code."""
    first = view.cases[view.first]
    if first["outcome"] != "returned" or first["changed"] or "again" in first or view.differs(view.first):
        return None
    told = cuts_gradients(view.only([view.first]))
    return told and dataclasses.replace(told, advice=_CUT)


_CUT = "use the tensors of params themselves: a new nn.Linear, .data, .detach() and torch.no_grad() cut gradients."
_NO_BIAS = "add the bias after each of the two matrices."
_BETWEEN = "it belongs in between, after up_proj, and nowhere else."
_FUNCTIONS = {
    "GELU": F.gelu, "GELU (by tanh)": lambda y: F.gelu(y, approximate="tanh"), "SiLU": F.silu, "ELU": F.elu,
    "a leaky ReLU": F.leaky_relu, "softplus": F.softplus, "a sigmoid": torch.sigmoid, "tanh": torch.tanh,
    "the absolute value": torch.abs, "the square of ReLU": lambda y: F.relu(y).square(),
    "a softmax": lambda y: y.softmax(-1), "ReLU6 (cut off at 6)": F.relu6,
}  # fmt: skip

EXERCISE = Exercise(
    answer="feed_forward", cases=_cases, reference=_feed_forward, returns=("output",), faults=(
        Fault("no ReLU", "two matrices with nothing in between: together they are one linear map.",
            "set what is negative in between to zero: ReLU after up_proj.", between=lambda y, bias: y),
        Fault("ReLU at the end", "the ReLU stands after down_proj, not in between: the output has no negative "
            "entries.", _BETWEEN, between=lambda y, bias: y, clip=F.relu),
        Fault("ReLU twice", "a second ReLU after down_proj: the output has no negative entries.", _BETWEEN, clip=F.relu),
        Fault("ReLU first", "the ReLU stands before up_proj: half of the input is lost.", _BETWEEN,
            between=lambda y, bias: y, before=F.relu),
        *faults_of("between", "this exercise asks for max(0, y).", *(
            (name, f"{name} in the place of ReLU.", lambda y, bias, function=function: function(y))
            for name, function in _FUNCTIONS.items())),
        Fault("no first bias", "the bias of up_proj was left out.", _NO_BIAS, up=_no_bias),
        Fault("no second bias", "the bias of down_proj was left out.", _NO_BIAS, down=_no_bias),
        Fault("bias after ReLU", "the bias of up_proj was added after the ReLU.", "matrix, bias, then ReLU.",
            up=_no_bias, between=lambda y, bias: F.relu(y) + bias),
        Fault("residual added", "x was added: that is the residual connection's business, in 9.4.",
            "return what the network gives, alone.", after=lambda y, x: x + y),
        Fault("matrices not transposed", "x @ W with matrices of shape (out, in).", "x @ W.T, or F.linear(x, W, b).",
            **dict.fromkeys(("up", "down"), lambda x, weight, bias: x @ weight + bias)),
        Fault("matrices reshaped", "the matrices were brought to (in, out) by reshape or view, which scrambles their "
            "numbers.", "transpose them: x @ W.T, or F.linear(x, W, b).",
            **dict.fromkeys(("up", "down"), lambda x, weight, bias: x @ weight.reshape(weight.T.shape) + bias)),
        Fault("positions mixed", "all positions were averaged first: the output is the same for each.",
            "each position goes through the network by itself.", before=lambda x: x.mean(1, keepdim=True).expand_as(x)),
    ), symptoms=(_cut_where_it_runs,),
    advice="three steps: up to (B, L, d_ff) with its bias, negative numbers to zero, down to (B, L, d_model) with its bias.",
)  # fmt: skip
