# %% setup
import torch

from course_utils.attention import masked_softmax


def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, num_heads, d_model // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, L, d_head = x.shape
    return x.transpose(1, 2).reshape(B, L, H * d_head)

# %% wrong: takes the blocks in the order key, query, value
def unpack(packed):
    result = {}
    for kind in ("weight", "bias"):
        if f"in_proj_{kind}" in packed:
            k, q, v = packed[f"in_proj_{kind}"].chunk(3, dim=0)
            result[f"q_proj.{kind}"], result[f"k_proj.{kind}"], result[f"v_proj.{kind}"] = q, k, v
            result[f"o_proj.{kind}"] = packed[f"out_proj.{kind}"]
    return result

# %% wrong: takes for granted that there are biases and stops with a KeyError if there are none
def unpack(packed):
    W_q, W_k, W_v = packed["in_proj_weight"].chunk(3)
    b_q, b_k, b_v = packed["in_proj_bias"].chunk(3)
    return {
        "q_proj.weight": W_q,
        "k_proj.weight": W_k,
        "v_proj.weight": W_v,
        "q_proj.bias": b_q,
        "k_proj.bias": b_k,
        "v_proj.bias": b_v,
        "o_proj.weight": packed["out_proj.weight"],
        "o_proj.bias": packed["out_proj.bias"],
    }

# %% wrong: looks for the key "bias", which never occurs, so the biases are never copied
def unpack(packed):
    d = packed["in_proj_weight"].shape[1]
    names = ["q_proj", "k_proj", "v_proj"]
    result = {f"{n}.weight": packed["in_proj_weight"][i * d : (i + 1) * d] for i, n in enumerate(names)}
    result["o_proj.weight"] = packed["out_proj.weight"]
    if "bias" in packed:
        for i, n in enumerate(names):
            result[f"{n}.bias"] = packed["in_proj_bias"][i * d : (i + 1) * d]
        result["o_proj.bias"] = packed["out_proj.bias"]
    return result

# %% wrong: without biases the keys are there all the same, with the value None
def unpack(packed):
    d_model = packed["out_proj.weight"].shape[0]
    result = {"o_proj.weight": packed["out_proj.weight"], "o_proj.bias": packed.get("out_proj.bias")}
    bias = packed.get("in_proj_bias")
    for i, name in enumerate(["q_proj", "k_proj", "v_proj"]):
        rows = slice(i * d_model, (i + 1) * d_model)
        result[name + ".weight"] = packed["in_proj_weight"][rows]
        result[name + ".bias"] = None if bias is None else bias[rows]
    return result

# %% wrong: transposes the three matrices, as if they were multiplied from the right (the output matrix stays as it is)
def unpack(packed):
    out = {}
    for name, W in zip("qkv", packed["in_proj_weight"].split(packed["in_proj_weight"].shape[1])):
        out[f"{name}_proj.weight"] = W.T
    out["o_proj.weight"] = packed["out_proj.weight"]
    if "in_proj_bias" in packed:
        for name, b in zip("qkv", packed["in_proj_bias"].chunk(3)):
            out[f"{name}_proj.bias"] = b
        out["o_proj.bias"] = packed["out_proj.bias"]
    return out

# %% wrong: keeps PyTorch's name out_proj for the output projection instead of o_proj
def unpack(packed):
    result = {}
    for key, value in packed.items():
        if key.startswith("in_proj_"):
            kind = key.removeprefix("in_proj_")
            for name, part in zip(("q_proj", "k_proj", "v_proj"), value.chunk(3)):
                result[f"{name}.{kind}"] = part
        else:
            result[key] = value
    return result

# %% two mistakes: cuts the matrix into columns (axis 1) instead of rows, an error or wrong shapes; and forgets the bias of the output projection
def unpack(packed):
    W_q, W_k, W_v = torch.tensor_split(packed["in_proj_weight"], 3, dim=1)
    result = {"q_proj.weight": W_q, "k_proj.weight": W_k, "v_proj.weight": W_v}
    result["o_proj.weight"] = packed["out_proj.weight"]
    if "in_proj_bias" in packed:
        b_q, b_k, b_v = packed["in_proj_bias"].chunk(3)
        result.update({"q_proj.bias": b_q, "k_proj.bias": b_k, "v_proj.bias": b_v})
    return result

# %% right: a dict comprehension over the kinds and names with unflatten, all tensors copied
def unpack(packed):
    kinds = [kind for kind in ("weight", "bias") if f"in_proj_{kind}" in packed]
    result = {
        f"{letter}_proj.{kind}": packed[f"in_proj_{kind}"].unflatten(0, (3, -1))[i].clone()
        for kind in kinds
        for i, letter in enumerate("qkv")
    }
    for kind in kinds:
        result[f"o_proj.{kind}"] = packed[f"out_proj.{kind}"].clone()
    return result

# %% right: goes over the entries of the dict, whatever is there, and returns an OrderedDict
def unpack(packed):
    from collections import OrderedDict

    result = OrderedDict()
    for key, tensor in packed.items():
        if key in ("in_proj_weight", "in_proj_bias"):
            kind = key.rsplit("_", 1)[1]
            third = tensor.shape[0] // 3
            for start, name in ((0, "q_proj"), (third, "k_proj"), (2 * third, "v_proj")):
                result[f"{name}.{kind}"] = tensor.narrow(0, start, third)
        elif key.startswith("out_proj."):
            result[key.replace("out_proj", "o_proj")] = tensor
    return result

# %% right: builds all entries with None for missing biases and throws those out at the end
def unpack(packed):
    def thirds(key):
        tensor = packed.get(key)
        return (None, None, None) if tensor is None else torch.tensor_split(tensor, 3)

    result = dict(zip(["q_proj.weight", "k_proj.weight", "v_proj.weight"], thirds("in_proj_weight")))
    result |= dict(zip(["q_proj.bias", "k_proj.bias", "v_proj.bias"], thirds("in_proj_bias")))
    result |= {"o_proj.weight": packed["out_proj.weight"], "o_proj.bias": packed.get("out_proj.bias")}
    return {key: tensor for key, tensor in result.items() if tensor is not None}


# %% wrong: named in the review: the names have an underscore instead of a point, and one is missing
def unpack(packed):
    q, k, v = packed["in_proj_weight"].chunk(3)
    return {"q_proj_weight": q, "k_proj_weight": k, "v_proj_weight": v}
