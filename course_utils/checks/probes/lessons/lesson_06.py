"""Lesson 06: what is off limits, and how 6.1 is called."""

from ..probe import Probe, call_turned

_HEADS = ("course_utils.multi_head.split_heads", "course_utils.multi_head.merge_heads")
_READY_MADE = (
    *_HEADS, "torch.nn.functional.scaled_dot_product_attention", "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention", "course_utils.attention.scaled_dot_product_attention",
    "course_utils.multi_head.MultiHeadAttention",
)  # fmt: skip

PROBES = {
    "split_heads": Probe(call=call_turned, off_limits=_HEADS, gradients=True),
    "merge_heads": Probe(off_limits=_HEADS, gradients=True),
    "multi_head_attention": Probe(off_limits=_READY_MADE, gradients=True),
    "heads_by_einsum": Probe(off_limits=_READY_MADE, gradients=True),
    "uneven_heads": Probe(off_limits=_READY_MADE[2:], gradients=True),
    "heads_results": Probe(expects="value"),
}
