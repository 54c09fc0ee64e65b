"""Lesson 04: what is off limits, and how the class of 4.6 is run."""

from ..probe import Probe

READY_MADE = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
    "course_utils.attention.scaled_dot_product_attention",
    "course_utils.multi_head.MultiHeadAttention",
)

PROBES = {"attention": Probe(off_limits=READY_MADE, gradients=True)}
