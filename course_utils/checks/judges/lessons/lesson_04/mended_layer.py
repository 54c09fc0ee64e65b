"""A layer whose values were made by the wrong projection."""

import torch
import torch.nn.functional as F
from torch import nn

from ...exercise import Case, Exercise, Fault
from ...kit.attention import FACTOR_FAULTS_OF_THREE_AXES, OTHER_FAULTS_OF_THREE_AXES, attend

SIZES = ((1, 3, 6, 4, 4), (2, 5, 8, 3, 6), (3, 4, 5, 7, 2), (2, 6, 4, 4, 4), (2, 5, 8, 3, 6))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for place, (B, L, d_model, d_k, d_v) in enumerate(SIZES):
        dtype = torch.float64 if place == 2 else torch.float32
        case = Case(x=torch.randn(B, L, d_model, generator=rng, dtype=dtype))
        for name, d, size in (("q_proj", d_k, 1.4), ("k_proj", d_k, 1.2), ("v_proj", d_v, 1.0)):
            case[f"{name}.weight"] = size * torch.randn(d, d_model, generator=rng, dtype=dtype) / d_model**0.5
            case[f"{name}.bias"] = 0.3 * torch.randn(d, generator=rng, dtype=dtype)
        cases.append(case)
    return cases


class _Layer(nn.Module):
    """The constructor that the exercise gives."""

    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj, self.k_proj = nn.Linear(d_model, d_k), nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)


def _forward(
    layer, x, *, query=lambda layer, x: layer.q_proj(x), key=lambda layer, x: layer.k_proj(x),
    value=lambda layer, x: layer.v_proj(x), finish=lambda output, weights: output, **steps,
):  # fmt: skip
    return finish(*attend(query(layer, x), key(layer, x), value(layer, x), given=(x,), **steps))


def _self_attention(**parts):
    return type("SelfAttention", (_Layer,), {"forward": lambda layer, x: _forward(layer, x, **parts)})


_VALUES = "make the values with v_proj, and with it alone."

FAULTS = (
    Fault("still the key projection", "the bug is still there: what is added up are the keys, from k_proj; v_proj plays "
          "no part.", "find the line that makes the values, and look at which layer it calls.",
          value=lambda layer, x: layer.k_proj(x)),
    Fault("values by the query projection", "now the values are made by q_proj; v_proj still plays no part.",
          "each role has a layer of its own.", value=lambda layer, x: layer.q_proj(x)),
    Fault("values not projected", "the tokens themselves are added up; v_proj still plays no part.", _VALUES,
          value=lambda layer, x: x),
    Fault("keys and values exchanged", "keys and values are exchanged: v_proj makes the keys now.", "keys from k_proj, "
          "values from v_proj.", key=lambda layer, x: layer.v_proj(x), value=lambda layer, x: layer.k_proj(x)),
    Fault("keys by the value projection", "v_proj makes the keys as well; k_proj plays no part.",
          "change the values only, and leave the keys with k_proj.", key=lambda layer, x: layer.v_proj(x)),
    Fault("queries and keys exchanged", "query and key have changed places: k_proj makes the queries and q_proj the "
          "keys.", "the order in the call is query, key, value.", query=lambda layer, x: layer.k_proj(x),
          key=lambda layer, x: layer.q_proj(x)),
    Fault("values projected twice", "v_proj is applied to the keys: k_proj(x) goes through it, where x should.",
          "apply v_proj to x.", value=lambda layer, x: layer.v_proj(layer.k_proj(x))),
    Fault("both added", "the values of both layers are added; the keys still take part in the output.", _VALUES,
          value=lambda layer, x: layer.v_proj(x) + layer.k_proj(x)),
    Fault("without its bias", "the values are made with the weights of v_proj, but without its bias.",
          "call the layer: self.v_proj(x).", value=lambda layer, x: F.linear(x, layer.v_proj.weight)),
    Fault("root of d_model", "the scores are divided by the root of d_model now.", "leave the scale as it was: the "
          "root of the size of the projected query.", factor=lambda q, k, v, x: x.shape[-1] ** -0.5),
    Fault("weights handed back too", "two things; asked for is the output alone.", "return the output without the "
          "weights: attention(...)[0] if you use your own function.", finish=lambda output, weights: (output, weights)),
)  # fmt: skip
_NOT_TOLD = ("no shift", "shifted by the largest of all", "query and key swapped")  # no large scores here; told above

EXERCISE = Exercise(
    answer="SelfAttention", cases=_cases, reference=_self_attention, returns=("output",),
    faults=(
        *FACTOR_FAULTS_OF_THREE_AXES,
        *FAULTS,
        *(fault for fault in OTHER_FAULTS_OF_THREE_AXES if fault.name not in _NOT_TOLD),
    ),
    advice="double the weights and the bias of v_proj: your output must double. What it returns is a tensor (B, L, d_v).",
)  # fmt: skip
