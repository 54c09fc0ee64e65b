"""Lesson 02: what is off limits; gradients are compared everywhere."""

from ..probe import Probe

SOFTMAX = (
    *(f"torch.{name}" for name in ("softmax", "_softmax", "log_softmax", "logsumexp")),
    *(f"torch.Tensor.{name}" for name in ("softmax", "log_softmax", "logsumexp")),
    *(f"torch.special.{name}" for name in ("softmax", "log_softmax", "logsumexp")),
    *(
        f"torch.nn.functional.{name}"
        for name in ("softmax", "log_softmax", "softmin", "gumbel_softmax", "cross_entropy")
    ),
    *("torch.nn.functional.scaled_dot_product_attention", "course_utils.attention.masked_softmax"),
    "course_utils.attention.scaled_dot_product_attention",
)

PROBES = {
    "softmax": Probe(off_limits=SOFTMAX, gradients=True),
    "with_temperature": Probe(gradients=True),
    "pool": Probe(gradients=True),
    "kernel_regression": Probe(off_limits=("course_utils.attention.nadaraya_watson",), gradients=True),
    "additive_attention": Probe(off_limits=("course_utils.attention.AdditiveAttention",), gradients=True),
    "attend": Probe(off_limits=("course_utils.attention.scaled_dot_product_attention",), gradients=True),
}
