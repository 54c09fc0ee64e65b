# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


# %% wrong: adds the bias of up_proj after the ReLU instead of before it
def feed_forward(x, params):
    hidden = torch.relu(x @ params["up_proj.weight"].T) + params["up_proj.bias"]
    return hidden @ params["down_proj.weight"].T + params["down_proj.bias"]


# %% wrong: takes the parameters with .data, so no gradient reaches matrices and biases
def feed_forward(x, params):
    p = {name: value.data for name, value in params.items()}
    hidden = F.relu(F.linear(x, p["up_proj.weight"], p["up_proj.bias"]))
    return F.linear(hidden, p["down_proj.weight"], p["down_proj.bias"])


# %% wrong: one more ReLU at the end, so negative outputs become 0
def feed_forward(x, params):
    for name in ("up_proj", "down_proj"):
        x = F.relu(F.linear(x, params[name + ".weight"], params[name + ".bias"]))
    return x


# %% wrong: leaves out the bias of down_proj
def feed_forward(x, params):
    up, down = params["up_proj.weight"], params["down_proj.weight"]
    return (x @ up.t() + params["up_proj.bias"]).clamp(min=0) @ down.t()


# %% right: einsum, and ReLU as a multiplication by the sign test
def feed_forward(x, params):
    z = torch.einsum("bld,fd->blf", x, params["up_proj.weight"]) + params["up_proj.bias"]
    z = z * (z > 0)
    return torch.einsum("blf,df->bld", z, params["down_proj.weight"]) + params["down_proj.bias"]


# %% right: an nn.Sequential called with torch.func.functional_call on the given tensors
def feed_forward(x, params):
    d_ff, d_model = params["up_proj.weight"].shape
    net = nn.Sequential()
    net.add_module("up_proj", nn.Linear(d_model, d_ff, device="meta"))
    net.add_module("act", nn.ReLU())
    net.add_module("down_proj", nn.Linear(d_ff, d_model, device="meta"))
    return torch.func.functional_call(net, dict(params), (x,))
