"""Lesson 04: what is off limits, where gradients are compared, and how the class of 4.6 is run."""

from torch import nn
from torch.func import functional_call

from ..probe import Probe

READY_MADE = (
    "torch.nn.functional.scaled_dot_product_attention", "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention", "course_utils.attention.scaled_dot_product_attention",
    "course_utils.multi_head.MultiHeadAttention",
)  # fmt: skip


def _with_these_numbers(answer, case):
    """The layer's output on ``x``, with the case's tensors as its parameters: gradients reach them as they reach ``x``."""
    numbers = {name: value for name, value in case.items() if "." in name}
    layer = answer(case["x"].shape[-1], len(numbers["q_proj.bias"]), len(numbers["v_proj.bias"]))
    for name in ("q_proj", "k_proj", "v_proj"):
        part = getattr(layer, name, None)
        if not isinstance(part, nn.Linear) or part.bias is None:
            raise ValueError(f"{name} must be an nn.Linear with a bias, as in the constructor that was given")
    return functional_call(layer, numbers, (case["x"],))


PROBES = {
    "attention": Probe(off_limits=READY_MADE, gradients=True),
    "self_attention": Probe(gradients=True),
    "project_qkv": Probe(gradients=True),
    "cross_attention": Probe(gradients=True),
    "SelfAttention": Probe(call=_with_these_numbers, expects="class", gradients=True),
}
