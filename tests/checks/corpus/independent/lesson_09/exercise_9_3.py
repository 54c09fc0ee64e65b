# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% wrong: leaves the ReLU out, so the network is one linear map
def feed_forward(x, params):
    hidden = x @ params["up_proj.weight"].T + params["up_proj.bias"]
    return hidden @ params["down_proj.weight"].T + params["down_proj.bias"]


# %% wrong: uses GELU instead of ReLU
def feed_forward(x, params):
    hidden = F.gelu(F.linear(x, params["up_proj.weight"], params["up_proj.bias"]))
    return F.linear(hidden, params["down_proj.weight"], params["down_proj.bias"])


# %% wrong: adds the bias of the up projection after the ReLU instead of before
def feed_forward(x, params):
    hidden = torch.relu(x @ params["up_proj.weight"].T) + params["up_proj.bias"]
    return hidden @ params["down_proj.weight"].T + params["down_proj.bias"]


# %% wrong: takes the arrays out of the dictionary with pop, so the caller's params are empty afterwards and a second call fails
def feed_forward(x, params):
    w_up, b_up = params.pop("up_proj.weight"), params.pop("up_proj.bias")
    w_down, b_down = params.pop("down_proj.weight"), params.pop("down_proj.bias")
    return F.linear(F.relu(F.linear(x, w_up, b_up)), w_down, b_down)


# %% wrong: loads the numbers into fresh nn.Linear layers, so no gradient reaches the matrices in params
def feed_forward(x, params):
    d_ff, d_model = params["up_proj.weight"].shape
    up, down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
    up.load_state_dict({"weight": params["up_proj.weight"], "bias": params["up_proj.bias"]})
    down.load_state_dict({"weight": params["down_proj.weight"], "bias": params["down_proj.bias"]})
    return down(F.relu(up(x)))


# %% wrong: adds x to the result, a residual connection that was not asked for
def feed_forward(x, params):
    y = F.linear(x, params["up_proj.weight"], params["up_proj.bias"]).relu()
    y = F.linear(y, params["down_proj.weight"], params["down_proj.bias"])
    return x + y


# %% two mistakes: forgets the bias of the up projection; and applies a ReLU to the output as well
def feed_forward(x, params):
    hidden = F.relu(F.linear(x, params["up_proj.weight"]))
    return F.relu(F.linear(hidden, params["down_proj.weight"], params["down_proj.bias"]))


# %% right: a convolution with window 1 over the positions, twice
def feed_forward(x, params):
    y = F.conv1d(x.transpose(1, 2), params["up_proj.weight"].unsqueeze(-1), params["up_proj.bias"])
    y = F.conv1d(y.clamp(min=0), params["down_proj.weight"].unsqueeze(-1), params["down_proj.bias"])
    return y.transpose(1, 2)


# %% right: einsum, and the ReLU as the mean of a number and its absolute value
def feed_forward(x, params):
    h = torch.einsum("bld,fd->blf", x, params["up_proj.weight"]) + params["up_proj.bias"]
    h = (h + h.abs()) / 2
    return torch.einsum("blf,df->bld", h, params["down_proj.weight"]) + params["down_proj.bias"]


# %% right: position by position in a loop with addmm and where
def feed_forward(x, params):
    p = {name.replace(".", "_"): tensor for name, tensor in params.items()}
    outputs = []
    for t in range(x.shape[1]):
        up = torch.addmm(p["up_proj_bias"], x[:, t], p["up_proj_weight"].t())
        up = torch.where(up > 0, up, torch.zeros_like(up))
        outputs.append(torch.addmm(p["down_proj_bias"], up, p["down_proj_weight"].t()))
    return torch.stack(outputs, dim=1)
