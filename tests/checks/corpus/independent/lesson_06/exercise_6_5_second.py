# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.attention import masked_softmax

# %% wrong: takes the entries out of packed with pop, so the caller's dict is emptied
def unpack(packed):
    result = {}
    for kind in ("weight", "bias"):
        stacked = packed.pop("in_proj_" + kind, None)
        if stacked is not None:
            for name, part in zip("qkv", stacked.chunk(3)):
                result[f"{name}_proj.{kind}"] = part
            result["o_proj." + kind] = packed.pop("out_proj." + kind)
    return result

# %% right: wraps every part in a new nn.Parameter, which cuts the gradient to the packed parameters (values are enough)
def unpack(packed):
    from torch import nn

    result = {}
    for kind in ("weight", "bias"):
        if "in_proj_" + kind in packed:
            q, k, v = packed["in_proj_" + kind].chunk(3, dim=0)
            parts = {"q_proj": q, "k_proj": k, "v_proj": v, "o_proj": packed["out_proj." + kind]}
            for name, part in parts.items():
                result[name + "." + kind] = nn.Parameter(part)
    return result

# %% wrong: fills in None for the biases when there are none, instead of leaving their keys out
def unpack(packed):
    d = packed["out_proj.weight"].shape[0]
    w, b = packed["in_proj_weight"], packed.get("in_proj_bias")
    result = {"o_proj.weight": packed["out_proj.weight"], "o_proj.bias": packed.get("out_proj.bias")}
    for i, name in enumerate("qkv"):
        result[name + "_proj.weight"] = w[i * d : (i + 1) * d]
        result[name + "_proj.bias"] = None if b is None else b[i * d : (i + 1) * d]
    return result

# %% wrong: writes into one dict that all calls share, so an earlier result changes and biases of an earlier call stay when there are none
_result = {}


def unpack(packed, result=_result):
    for kind in ("weight", "bias"):
        if f"in_proj_{kind}" in packed:
            q, k, v = packed[f"in_proj_{kind}"].chunk(3)
            result[f"q_proj.{kind}"], result[f"k_proj.{kind}"], result[f"v_proj.{kind}"] = q, k, v
            result[f"o_proj.{kind}"] = packed[f"out_proj.{kind}"]
    return result

# %% right: loops over the keys of packed and builds the new names from the old ones
def unpack(packed):
    result = {}
    for name, tensor in packed.items():
        kind = "bias" if name.endswith("bias") else "weight"
        if name.startswith("out_proj"):
            result["o_proj." + kind] = tensor
        else:
            d_model = tensor.shape[0] // 3
            parts = tensor.unflatten(0, (3, d_model)).unbind(0)
            result.update({f"{letter}_proj.{kind}": part for letter, part in zip("qkv", parts)})
    return result

# %% right: copies by clone, with row numbers for each part
def unpack(packed):
    d_model = packed["in_proj_weight"].shape[1]
    rows = torch.arange(3 * d_model)
    result = {}
    for number, name in enumerate(["q_proj", "k_proj", "v_proj"]):
        mine = rows[rows // d_model == number]
        result[name + ".weight"] = packed["in_proj_weight"].index_select(0, mine)
        if "in_proj_bias" in packed:
            result[name + ".bias"] = packed["in_proj_bias"][mine]
    result["o_proj.weight"] = packed["out_proj.weight"].clone()
    if "out_proj.bias" in packed:
        result["o_proj.bias"] = packed["out_proj.bias"].clone()
    return result
