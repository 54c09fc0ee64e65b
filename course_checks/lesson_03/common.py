"""What several exercises of lesson 03 share: additive attention over real letters, and what goes wrong in it."""

import torch

from ..deciding.wrong_answer import as_numbers, symptom

ATTENTION = tuple(
    f"course_utils.attention.{name}" for name in ("AdditiveAttention", "masked_softmax", "scaled_dot_product_attention")
)
BEFORE = "padding must have no share from the start: hide its scores before the softmax, by a number that exp makes 0."


def make_low(arguments, size, padding=-30.0):
    """One hidden feature becomes -1 at real letters (at padding the tanh of ``padding``), and counts ``size``."""
    arguments["W_q"][0], arguments["W_k"][0], arguments["W_k"][:, 0], arguments["w_v"][0] = 0.0, 0.0, 0.0, size
    arguments["W_k"][0, 0] = 1.0
    arguments["encoded"][..., 0] = torch.where(arguments["mask"], -30.0, padding).to(arguments["encoded"])
    return arguments


def padding_keeps_weight(answer):
    """The real letters share as they should, but padding has a share as well. The weights are returned last, or alone."""
    most = 0.0
    for index in answer.wrong:
        expected, actual = (last(side[index].get("value")) for side in (answer.expected, answer.observed))
        right, yours = (side and as_numbers(side) for side in (expected, actual))
        if right is None or yours is None or right.shape != yours.shape or yours.isnan().any():
            return None
        real = yours * answer.cases[index]["mask"]
        some = real.sum(-1) > 1e-12  # where the padding takes all there is nothing to compare
        if not torch.allclose(real[some] / real[some].sum(-1, keepdim=True), right[some], atol=1e-3):
            return None
        most = max(most, float((yours - real).sum(-1).max()))
    if most < 1e-6:
        return None
    looks_like = f"padding keeps weight, up to {100 * most:.3g} % of a word's; the real letters share the rest rightly."
    return symptom(looks_like, BEFORE, "padding keeps weight")


def last(value):
    return value["value"][-1] if value and value["kind"] == "tuple" and value["value"] else value
