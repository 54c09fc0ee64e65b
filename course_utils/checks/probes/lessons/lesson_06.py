"""Lesson 06: what is off limits, and how 6.1 is called."""

from ..probe import Probe, visible

_HEADS = ("course_utils.multi_head.split_heads", "course_utils.multi_head.merge_heads")
_READY_MADE = (
    *_HEADS,
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
    "course_utils.attention.scaled_dot_product_attention",
    "course_utils.multi_head.MultiHeadAttention",
)


def _perhaps_turned(answer, arguments):
    """Where the case says so, ``x`` comes from a transpose: its numbers do not lie in order in memory."""
    if "_turned" not in arguments:
        return answer(*visible(arguments).values())
    return answer(arguments["x"].mT.contiguous().mT, arguments["num_heads"])


PROBES = {
    "split_heads": Probe(call=_perhaps_turned, off_limits=_HEADS, gradients=True),
    "merge_heads": Probe(off_limits=_HEADS, gradients=True),
    "multi_head_attention": Probe(off_limits=_READY_MADE, gradients=True),
    "heads_by_einsum": Probe(off_limits=_READY_MADE, gradients=True),
    "self_attention": Probe(off_limits=_HEADS, gradients=True),
}
