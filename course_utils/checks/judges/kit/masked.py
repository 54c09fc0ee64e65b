"""Attention with a mask made of steps, and what goes wrong where the mask acts: for exercises that write or mend it."""

import torch

from ..exercise import Fault
from .attention import FACTOR_FAULTS, WEIGHING_FAULTS, shared

LOW = -100_000.0  # below any number that an answer may take for "low enough" and float16 can hold


def attend_masked(
    query, key, value, mask, *, read=lambda mask: mask, factor=lambda q, k, v: q.shape[-1] ** -0.5,
    hide=lambda scores, mask: scores.masked_fill(~mask, -torch.inf), weigh=lambda scores: scores.softmax(-1),
    after=lambda weights, mask: weights, values=lambda value, mask: value,
    give=lambda output, weights, scores: (output, weights),
):  # fmt: skip
    """Attention in which hidden keys get weight 0; each keyword is one step. Returns output and weights."""
    mask = read(mask)
    scores = query @ key.transpose(-2, -1) * factor(query, key, value)
    weights = after(weigh(hide(scores, mask)), mask)
    return give(weights @ values(value, mask), weights, scores)


def low_scores(lead, L_q, L_k, rng):
    """Queries and keys whose scores are all near LOW and ordinary otherwise; exact, in whatever order they are added."""
    query, key = ((4 * torch.randn(*lead, length, 16, generator=rng)).round() / 4 for length in (L_q, L_k))
    query[..., 0], key[..., 0] = 512.0, LOW * 4 / 512  # divided by the root of 16
    return query, key


def filled(number):
    """A number in the place of the hidden scores."""
    return lambda scores, mask: scores.masked_fill(~mask, number)


def unmasked(scores, mask):
    """The scores as they are: no mask acts on them."""
    return scores


HIDING_FAULTS = (
    Fault("mask not used", "attention without a mask: every key gets weight, also the hidden ones.",
        "hide the scores where the mask is False, before the softmax.", hide=unmasked),
    Fault("inverted", "the mask was read the other way round: what it allows is hidden, what it hides is seen.",
        "True means may attend, so fill where it is False: ~mask.", read=lambda m: ~m),
    Fault("zeroed after the softmax", "weights were set to 0 after the softmax: the rows no longer sum to 1.",
        "hide the scores before the softmax.", hide=unmasked, after=lambda w, m: w * m),
    Fault("renormalized afterwards", "hidden keys were taken out after the exponentials: where their scores are far "
        "higher, 0 / 0 is left.", "hide the scores first, so that they take no part in the maximum or the sum.",
        hide=unmasked, after=lambda w, m: shared(w * m)),
    Fault("no shift",
        "exponentials without a shift: where all scores are very low each exponential is 0, and 0 / 0 is NaN.",
        "use torch.softmax, or subtract the largest allowed score of each row.", weigh=lambda s: shared(s.exp())),
    Fault("scores set to 0", "hidden scores were set to 0 before the softmax, and exp(0) is 1: hidden keys keep "
        "weight.", "the score of a hidden key must be minus infinity, whose exponential is 0.", hide=filled(0.0)),
    Fault("boolean added",
        "the mask was added to the scores as zeros and ones: that shifts scores by 1 and hides nothing.",
        "an additive mask needs 0 for allowed and minus infinity for hidden.", hide=lambda s, m: s + m.to(s.dtype)),
    Fault("zero times infinity", "every row is NaN: zeros and ones times infinity do that, for 0 times infinity is "
        "NaN.", "fill instead of multiplying: masked_fill(~mask, minus infinity).",
        hide=lambda s, m: s + (~m).to(s.dtype) * -torch.inf),
    Fault("not low enough", "a fill value such as -1e4 or -65504: where allowed scores lie lower, hidden keys win all "
        "the weight.", "fill with float('-inf'), below which there is nothing.", hide=filled(-1e4)),
    Fault("sign lost", "hidden scores were set to a large POSITIVE number, so hidden keys get all the weight.",
        "the fill value is minus infinity.", hide=filled(1e4)),
    Fault("mask as an index", "scores[~mask] = ... does not broadcast: it needs a mask in the full shape of the "
        "scores.", "use masked_fill(~mask, ...) or torch.where, which broadcast.",
        hide=lambda s, m: s.index_put((~m,), s.new_tensor(-torch.inf))),
)  # fmt: skip

_COMMON = ("over the queries", "hard argmax", "no scaling", "divided by d_k", "root of L_k", "root of d_v")
COMMON_FAULTS = (
    *(fault for fault in (*WEIGHING_FAULTS, *FACTOR_FAULTS) if fault.name in _COMMON),
    Fault("weights not masked", "the output is right, but the weights beside it are those of a softmax without the mask.",
        "hand back the weights that you multiply the values with.", give=lambda o, w, s: (o, s.softmax(-1))),
)  # fmt: skip
