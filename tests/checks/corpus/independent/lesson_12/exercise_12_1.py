# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles


# %% wrong: SiLU is applied to the up branch instead of the gate branch
def swiglu(x, params):
    gate = x @ params["gate_proj.weight"].T
    up = x @ params["up_proj.weight"].T
    return (gate * F.silu(up)) @ params["down_proj.weight"].T


# %% wrong: the gate passes through the sigmoid alone, without the factor z
def swiglu(x, params):
    gate = torch.sigmoid(F.linear(x, params["gate_proj.weight"]))
    up = F.linear(x, params["up_proj.weight"])
    return F.linear(gate * up, params["down_proj.weight"])


# %% wrong: the matrices are copied into new nn.Linear layers, so no gradient reaches the matrices in params
def swiglu(x, params):
    def linear(name):
        weight = params[f"{name}.weight"]
        layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False, dtype=weight.dtype)
        layer.load_state_dict({"weight": weight})
        return layer

    gate, up, down = linear("gate_proj"), linear("up_proj"), linear("down_proj")
    return down(F.silu(gate(x)) * up(x))


# %% wrong: the two branches are added instead of multiplied
def swiglu(x, params):
    gate = F.silu(F.linear(x, params["gate_proj.weight"]))
    return F.linear(gate + F.linear(x, params["up_proj.weight"]), params["down_proj.weight"])


# %% wrong: the sigmoid is computed as exp(z) / (1 + exp(z)), which is infinity divided by infinity, NaN, for large z
def swiglu(x, params):
    z = F.linear(x, params["gate_proj.weight"])
    silu = z * torch.exp(z) / (1 + torch.exp(z))
    return F.linear(silu * F.linear(x, params["up_proj.weight"]), params["down_proj.weight"])


# %% wrong: takes the matrices out of params with pop, so the caller's dictionary is empty afterwards and a second call raises KeyError
def swiglu(x, params):
    gate = params.pop("gate_proj.weight")
    up = params.pop("up_proj.weight")
    down = params.pop("down_proj.weight")
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


# %% two mistakes: the product is formed before the activation, SiLU acts on gate times up; and the function used is GELU, not SiLU
def swiglu(x, params):
    gate = F.linear(x, params["gate_proj.weight"])
    up = F.linear(x, params["up_proj.weight"])
    return F.linear(F.gelu(gate * up), params["down_proj.weight"])


# %% right: einsum throughout, SiLU written with sigmoid
def swiglu(x, params):
    gate = torch.einsum("bld,fd->blf", x, params["gate_proj.weight"])
    up = torch.einsum("bld,fd->blf", x, params["up_proj.weight"])
    return torch.einsum("blf,blf,blf,df->bld", gate, gate.sigmoid(), up, params["down_proj.weight"])


# %% right: one multiplication with both matrices stacked, then chunk
def swiglu(x, params):
    both = torch.cat([params["gate_proj.weight"], params["up_proj.weight"]])  # (2 * d_ff, d_model)
    gate, up = (x @ both.transpose(0, 1)).chunk(2, dim=-1)
    return torch.matmul(torch.nn.SiLU()(gate).mul(up), params["down_proj.weight"].mT)


# %% right: bmm with expanded matrices, and the sigmoid as (1 + tanh(z / 2)) / 2
def swiglu(x, params):
    def up_to(name):
        return torch.bmm(x, params[name].T.expand(x.shape[0], -1, -1))

    z = up_to("gate_proj.weight")
    silu = 0.5 * z * (1 + torch.tanh(0.5 * z))
    hidden = silu * up_to("up_proj.weight")
    return torch.bmm(hidden, params["down_proj.weight"].T.expand(x.shape[0], -1, -1))
