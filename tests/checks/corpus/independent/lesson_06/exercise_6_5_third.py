# %% setup
import torch
from torch import nn


# %% wrong: gives biases of zeros to a module that has none, although all bias keys must be missing
def unpack(packed):
    result = {"o_proj.weight": packed["out_proj.weight"]}
    d_model = packed["out_proj.weight"].shape[0]
    bias = packed.get("in_proj_bias", torch.zeros(3 * d_model))
    result["o_proj.bias"] = packed.get("out_proj.bias", torch.zeros(d_model))
    for i, name in enumerate("qkv"):
        result[f"{name}_proj.weight"] = packed["in_proj_weight"].chunk(3)[i]
        result[f"{name}_proj.bias"] = bias.chunk(3)[i]
    return result


# %% wrong: judges by any() whether there are biases, so biases that are all zero (as PyTorch makes them) are missing in the result
def unpack(packed):
    w_q, w_k, w_v = packed["in_proj_weight"].chunk(3)
    result = {"q_proj.weight": w_q, "k_proj.weight": w_k, "v_proj.weight": w_v, "o_proj.weight": packed["out_proj.weight"]}
    bias = packed.get("in_proj_bias")
    if bias is not None and bias.any():
        result["q_proj.bias"], result["k_proj.bias"], result["v_proj.bias"] = bias.chunk(3)
        result["o_proj.bias"] = packed["out_proj.bias"]
    return result


# %% wrong: pops the stacked parameters out of the dict, so the result is right but the caller's dict has lost them
def unpack(packed):
    result = {}
    for kind, stacked in (("weight", "in_proj_weight"), ("bias", "in_proj_bias")):
        if stacked in packed:
            parts = packed.pop(stacked).chunk(3)
            for name, part in zip(("q_proj", "k_proj", "v_proj"), parts):
                result[f"{name}.{kind}"] = part
            result[f"o_proj.{kind}"] = packed.pop(f"out_proj.{kind}")
    return result


# %% wrong: copies the numbers through Python lists into new tensors, so float64 parameters come back as float32
def unpack(packed):
    result = {}
    for kind in ("weight", "bias"):
        if f"in_proj_{kind}" in packed:
            rows = packed[f"in_proj_{kind}"].tolist()
            d_model = len(rows) // 3
            for i, name in enumerate(("q_proj", "k_proj", "v_proj")):
                result[f"{name}.{kind}"] = torch.tensor(rows[i * d_model : (i + 1) * d_model])
            result[f"o_proj.{kind}"] = torch.tensor(packed[f"out_proj.{kind}"].tolist())
    return result


# %% right: goes through the keys of the packed dict and unbinds a new first axis of size 3
def unpack(packed):
    result = {}
    for name, tensor in packed.items():
        kind = "bias" if name.endswith("bias") else "weight"
        if name.startswith("in_proj"):
            result.update(zip([f"{letter}_proj.{kind}" for letter in "qkv"], tensor.unflatten(0, (3, -1)).unbind(0)))
        else:
            result[f"o_proj.{kind}"] = tensor
    return result


# %% right: collects the rows by index lists, and clones everything into new parameters
def unpack(packed):
    d_model = packed["out_proj.weight"].shape[0]
    result = {"o_proj.weight": nn.Parameter(packed["out_proj.weight"].detach().clone())}
    if "out_proj.bias" in packed:
        result["o_proj.bias"] = nn.Parameter(packed["out_proj.bias"].detach().clone())
    for start, name in ((2 * d_model, "v_proj"), (0, "q_proj"), (d_model, "k_proj")):
        rows = torch.tensor([start + i for i in range(d_model)])
        result[name + ".weight"] = nn.Parameter(packed["in_proj_weight"].detach().index_select(0, rows))
        if "in_proj_bias" in packed:
            result[name + ".bias"] = nn.Parameter(packed["in_proj_bias"].detach()[rows])
    return result
