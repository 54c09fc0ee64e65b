"""Lesson 02: what is off limits, how many operations an answer may take; gradients are compared but in 2.4."""

from torch.utils._python_dispatch import TorchDispatchMode

from ..probe import Probe, call_in_order

_NAMES = {
    "torch": "softmax _softmax log_softmax logsumexp",
    "torch.Tensor": "softmax log_softmax logsumexp",
    "torch.special": "softmax log_softmax logsumexp",
    "torch.nn.functional": "softmax log_softmax softmin gumbel_softmax cross_entropy scaled_dot_product_attention",
    "course_utils.attention": "masked_softmax scaled_dot_product_attention",
}
SOFTMAX = tuple(f"{owner}.{name}" for owner, names in _NAMES.items() for name in names.split())


class _Counted(TorchDispatchMode):
    def __init__(self, most, said):
        super().__init__()
        self.left, self.said = most, said

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.left -= 1
        if self.left < 0:
            raise RuntimeError(self.said)
        return func(*args, **(kwargs or {}))


def _counted(answer, case):
    said = case.get("_said", "your search never ends: more than 50,000 operations")
    with _Counted(case.get("_most", 50_000), said):
        return call_in_order(answer, case)


PROBES = {
    "softmax": Probe(off_limits=SOFTMAX, gradients=True),
    "edge_regression": Probe(gradients=True),
    "leave_one_out": Probe(call=_counted, gradients=True),
    "temperature_for": Probe(call=_counted),
    "additive_attention": Probe(off_limits=("course_utils.attention.AdditiveAttention",), gradients=True),
    "attend": Probe(off_limits=("course_utils.attention.scaled_dot_product_attention",), gradients=True),
    "curve_results": Probe(expects="value"),
}
