# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: applies ReLU before the bias of the first step is added, the output is right when that bias is 0
def feed_forward(x, params):
    hidden = F.relu(x @ params["up_proj.weight"].T) + params["up_proj.bias"]
    return hidden @ params["down_proj.weight"].T + params["down_proj.bias"]


# %% wrong: brings the matrices to shape (in, out) by reshape instead of transposing, right when d_model is 1
def feed_forward(x, params):
    d_ff, d_model = params["up_proj.weight"].shape
    up = params["up_proj.weight"].reshape(d_model, d_ff)
    down = params["down_proj.weight"].reshape(d_ff, d_model)
    hidden = torch.relu(x @ up + params["up_proj.bias"])
    return hidden @ down + params["down_proj.bias"]


# %% wrong: uses relu6, which cuts features off at 6, so only large features show it
def feed_forward(x, params):
    hidden = F.relu6(F.linear(x, params["up_proj.weight"], params["up_proj.bias"]))
    return F.linear(hidden, params["down_proj.weight"], params["down_proj.bias"])


# %% wrong: sets negative features to 0 through .data, so the output is right but gradients flow as if there were no ReLU
def feed_forward(x, params):
    hidden = F.linear(x, params["up_proj.weight"], params["up_proj.bias"])
    hidden.data[hidden.data < 0] = 0
    return F.linear(hidden, params["down_proj.weight"], params["down_proj.bias"])


# %% right: adds up the contributions of the hidden features one after the other, torch.where for the ReLU
def feed_forward(x, params):
    up, down = params["up_proj.weight"], params["down_proj.weight"]
    out = params["down_proj.bias"].expand(x.shape)
    for row, shift, column in zip(up, params["up_proj.bias"], down.T):
        feature = (x * row).sum(dim=-1, keepdim=True) + shift
        out = out + torch.where(feature > 0, feature, 0.0) * column
    return out


# %% right: einsum with the bias as one more input feature that is always 1, ReLU as a product with the sign mask
def feed_forward(x, params):
    one = torch.ones_like(x[..., :1])
    up = torch.cat([params["up_proj.weight"], params["up_proj.bias"][:, None]], dim=1)
    down = torch.cat([params["down_proj.weight"], params["down_proj.bias"][:, None]], dim=1)
    hidden = torch.einsum("bld,fd->blf", torch.cat([x, one], dim=-1), up)
    hidden = hidden * (hidden > 0).to(hidden.dtype)
    return torch.einsum("blf,df->bld", torch.cat([hidden, one], dim=-1), down)
