# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles

# %% wrong: SiLU is applied to the product of gate and up instead of to the gate branch alone
def swiglu(x, params):
    gate = F.linear(x, params["gate_proj.weight"])
    up = F.linear(x, params["up_proj.weight"])
    return F.linear(F.silu(gate * up), params["down_proj.weight"])

# %% wrong: reads the matrices through .data, so no gradient reaches them (only x gets one)
def swiglu(x, params):
    w_gate, w_up, w_down = (params[f"{name}_proj.weight"].data for name in ("gate", "up", "down"))
    return (F.silu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T

# %% wrong: computes and returns everything in float32, so double inputs lose their dtype
def swiglu(x, params):
    x = x.float()
    gate = F.silu(F.linear(x, params["gate_proj.weight"].float()))
    up = F.linear(x, params["up_proj.weight"].float())
    return F.linear(gate * up, params["down_proj.weight"].float())

# %% wrong: multiplies by the matrices without transposing them, which is right only for symmetric ones and fails if d_ff differs from d_model
def swiglu(x, params):
    gate = x @ params["gate_proj.weight"]
    up = x @ params["up_proj.weight"]
    return (F.silu(gate) * up) @ params["down_proj.weight"]

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

# %% right: one product with both matrices concatenated, then chunked
def swiglu(x, params):
    both = torch.cat((params["gate_proj.weight"], params["up_proj.weight"]))
    gate, up = F.linear(x, both).chunk(2, dim=-1)
    return torch.matmul(nn.functional.silu(gate).mul(up), params["down_proj.weight"].transpose(0, 1))
