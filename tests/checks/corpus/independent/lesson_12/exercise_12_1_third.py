# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: multiplies the branches first and passes the product through SiLU
def swiglu(x, params):
    gate = F.linear(x, params["gate_proj.weight"])
    up = F.linear(x, params["up_proj.weight"])
    return F.linear(F.silu(gate * up), params["down_proj.weight"])


# %% wrong: takes hardswish, the approximation of SiLU by straight pieces, for SiLU
def swiglu(x, params):
    gate = x @ params["gate_proj.weight"].T
    up = x @ params["up_proj.weight"].T
    return (F.hardswish(gate) * up) @ params["down_proj.weight"].T


# %% wrong: takes the matrices out of params with pop, so the caller's dictionary is empty afterwards
def swiglu(x, params):
    gate = F.linear(x, params.pop("gate_proj.weight"))
    up = F.linear(x, params.pop("up_proj.weight"))
    return F.linear(F.silu(gate) * up, params.pop("down_proj.weight"))


# %% wrong: detaches the sigmoid of the gate, so the values are right but the gradients of x and of the gate's matrix are not
def swiglu(x, params):
    gate = F.linear(x, params["gate_proj.weight"])
    up = F.linear(x, params["up_proj.weight"])
    openness = torch.sigmoid(gate).detach()
    return F.linear(gate * openness * up, params["down_proj.weight"])


# %% two mistakes: puts the activation on the up branch instead of the gate branch; and leaves it at the sigmoid
def swiglu(x, params):
    gate = F.linear(x, params["gate_proj.weight"])
    up = F.linear(x, params["up_proj.weight"])
    return F.linear(gate * torch.sigmoid(up), params["down_proj.weight"])


# %% right: adds up the contribution of one inner feature after the other
def swiglu(x, params):
    result = torch.zeros_like(x)
    for gate_row, up_row, down_column in zip(
        params["gate_proj.weight"], params["up_proj.weight"], params["down_proj.weight"].unbind(dim=1), strict=True
    ):
        gate = (x * gate_row).sum(dim=-1, keepdim=True)
        up = (x * up_row).sum(dim=-1, keepdim=True)
        result = result + gate * gate.sigmoid() * up * down_column
    return result


# %% right: one einsum each for up and down, with SiLU written by the hyperbolic tangent
def swiglu(x, params):
    both = torch.stack((params["gate_proj.weight"], params["up_proj.weight"]))  # (2, d_ff, d_model)
    gate, up = torch.einsum("blm,kfm->kblf", x, both)
    silu = gate / 2 * (1 + torch.tanh(gate / 2))
    return torch.einsum("blf,blf,mf->blm", silu, up, params["down_proj.weight"])
