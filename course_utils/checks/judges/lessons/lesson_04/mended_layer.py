"""A layer whose scale came from the size of the values."""

import torch
from torch import nn

from ...exercise import Case, Exercise, Fault
from ...kit.attention import FACTOR_FAULTS_OF_THREE_AXES, OTHER_FAULTS_OF_THREE_AXES, attend

SIZES = ((1, 3, 6, 4, 4), (2, 5, 8, 3, 6), (3, 4, 5, 9, 2), (2, 6, 4, 4, 4), (2, 5, 8, 3, 6))


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


def _self_attention(*, finish=lambda output, weights: output, **steps):
    def forward(layer, x):
        return finish(*attend(layer.q_proj(x), layer.k_proj(x), layer.v_proj(x), given=(x,), **steps))

    return type("SelfAttention", (_Layer,), {"forward": forward})


FAULTS = (
    Fault("root of d_model", "the scores are divided by the root of d_model, the size of x.", "divide by the root of the "
          "size of what is multiplied: a projected query.", factor=lambda q, k, v, x: x.shape[-1] ** -0.5),
    Fault("weights handed back too", "the weights are handed back beside the output, which alone is asked for.", "return the "
          "output alone: attention(...)[0] if you use your own function.", finish=lambda output, weights: (output, weights)),
    *(fault for fault in OTHER_FAULTS_OF_THREE_AXES if "shift" not in fault.name),  # no large scores here
)  # fmt: skip

EXERCISE = Exercise(
    answer="SelfAttention", cases=_cases, reference=_self_attention, returns=("output",),
    faults=(*FACTOR_FAULTS_OF_THREE_AXES, *FAULTS),
    advice="compare with PyTorch at sizes that all differ, such as (6, 3, 5). What it returns is a tensor (B, L, d_v).",
)  # fmt: skip
