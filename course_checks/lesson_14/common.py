"""Lesson 14: what its exercises put off limits, and how it is told that too much is held."""

from ..deciding.wrong_answer import stops_with

GRADIENTS = (
    *("torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward", "torch.func.grad", "torch.func.vjp"),
    *("torch.func.jacrev", "torch.func.jacfwd", "torch.autograd.functional.vjp", "torch.autograd.functional.jacobian"),
    "torch._softmax_backward_data",
)
WITHOUT_SOFTMAX = tuple(f"course_utils.linear_attention.{name}_form" for name in ("recurrent", "masked", "chunked"))
WATCHED = "the text is long, and it is watched what you hold"
too_much = stops_with(
    "what you hold at one time",
    "on a long text the answer holds about as many numbers as a table of all positions by all positions.",
    "find the largest tensor that you make, or a list that grows; use each part up before you make the next.",
    "holds a table of all positions",
)


def table(length, share=0.4):
    """So many bytes a watched answer may hold: this share of a table of ``length`` by ``length`` float32 numbers."""
    return {"most_bytes": int(4 * share * length**2)}


COUNTED = "so many operations are needed by a loop over single positions"
FEW = {"most_operations": 2000, "too_many": COUNTED}
too_many = stops_with(
    COUNTED,
    "on a long text the answer takes far more operations than a loop over the chunks needs.",
    "within a chunk, work on all positions at once; the only loop is the one over the chunks.",
    "takes too many operations",
)
