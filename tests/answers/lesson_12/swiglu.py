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

# %% wrong: reads the matrices through .data, so no gradient reaches them (only x gets one)
def swiglu(x, params):
    w_gate, w_up, w_down = (params[f"{name}_proj.weight"].data for name in ("gate", "up", "down"))
    return (F.silu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T

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

# %% wrong: computes and returns everything in float32, so double inputs lose their dtype
def swiglu(x, params):
    x = x.float()
    gate = F.silu(F.linear(x, params["gate_proj.weight"].float()))
    up = F.linear(x, params["up_proj.weight"].float())
    return F.linear(gate * up, params["down_proj.weight"].float())

# %% two mistakes: the gate passes through the sigmoid instead of SiLU; and gate and up are swapped
def swiglu(x, params):
    gate = F.linear(x, params["gate_proj.weight"])
    up = F.linear(x, params["up_proj.weight"])
    return F.linear(gate * torch.sigmoid(up), params["down_proj.weight"])

# %% right: einsum with the SiLU written out
def swiglu(x, params):
    gate = torch.einsum("bld,fd->blf", x, params["gate_proj.weight"])
    up = torch.einsum("bld,fd->blf", x, params["up_proj.weight"])
    return torch.einsum("blf,df->bld", gate * gate.sigmoid() * up, params["down_proj.weight"])

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: takes hardswish, the approximation of SiLU by straight pieces, for SiLU
def swiglu(x, params):
    gate = x @ params["gate_proj.weight"].T
    up = x @ params["up_proj.weight"].T
    return (F.hardswish(gate) * up) @ params["down_proj.weight"].T

# %% right: one einsum each for up and down, with SiLU written by the hyperbolic tangent
def swiglu(x, params):
    both = torch.stack((params["gate_proj.weight"], params["up_proj.weight"]))  # (2, d_ff, d_model)
    gate, up = torch.einsum("blm,kfm->kblf", x, both)
    silu = gate / 2 * (1 + torch.tanh(gate / 2))
    return torch.einsum("blf,blf,mf->blm", silu, up, params["down_proj.weight"])

# %% setup
import torch
import torch.nn.functional as F

# %% right: one product for both branches, the sigmoid written out by tanh
def swiglu(x, params):
    both = x @ torch.cat([params["gate_proj.weight"], params["up_proj.weight"]]).mT
    z, up = both.chunk(2, dim=-1)
    return torch.einsum("blf,df->bld", z * (1 + torch.tanh(z / 2)) / 2 * up, params["down_proj.weight"])
