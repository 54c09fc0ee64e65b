"""Lesson 02: what is off limits, how many operations an answer may take; gradients are compared but in 2.4."""

from ..counted import call_counted
from ..probe import Probe

_NAMES = {
    "torch": "softmax _softmax log_softmax logsumexp",
    "torch.Tensor": "softmax log_softmax logsumexp",
    "torch.special": "softmax log_softmax logsumexp",
    "torch.nn.functional": "softmax log_softmax softmin gumbel_softmax cross_entropy scaled_dot_product_attention",
    "course_utils.attention": "masked_softmax scaled_dot_product_attention",
}
SOFTMAX = tuple(f"{owner}.{name}" for owner, names in _NAMES.items() for name in names.split())


_SEARCH = call_counted(
    50_000, "it takes more than 50,000 operations: halve what is left at each step, and stop after a fixed number"
)

PROBES = {
    "softmax": Probe(off_limits=SOFTMAX, gradients=True),
    "edge_regression": Probe(gradients=True),
    "leave_one_out": Probe(call=_SEARCH, gradients=True),
    "temperature_for": Probe(call=_SEARCH),
    "additive_attention": Probe(off_limits=("course_utils.attention.AdditiveAttention",), gradients=True),
    "attend": Probe(off_limits=("course_utils.attention.scaled_dot_product_attention",), gradients=True),
    "curve_results": Probe(expects="value"),
}
