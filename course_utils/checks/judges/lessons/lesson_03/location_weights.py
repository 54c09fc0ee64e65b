"""Additive attention whose score sees the weights of the step before."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.padded import padding_keeps_weight
from ...kit.parts import faults_of
from .attention_step import FAULTS as STEP
from .attention_step import make_low

# (mask, d_hidden, d_enc, d_att, filters, r, labels)
CASES = (
    ("111", 1, 2, 4, 1, 1, ()),
    ("11111000 11111111", 4, 6, 9, 3, 2, ()),
    ("0011111 1111111 1101110", 5, 4, 6, 2, 1, ("padding stands in front or between the letters",)),
    ("11111 11100", 3, 7, 5, 4, 0, ("the filters have width 1",)),
    ("11 10", 4, 3, 8, 2, 3, ("the filters are wider than the word",)),
    ("111111 111100 000111", 6, 5, 7, 3, 1, ()),
    ("11111000 11111111", 4, 6, 9, 3, 2, ()),  # sizes seen before, other numbers
)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [_case(rng, *some, dtype=torch.float64 if n == 5 else torch.float32) for n, some in enumerate(CASES)]
    low = _case(rng, "1111100 0111110", 4, 6, 9, 3, 1, ("the scores are low",), dtype=torch.float64, values_only=True)
    low["W_f"][0] = 0.0
    return [*cases, make_low(low, 600.0)]


def _case(rng, mask, d_hidden, d_enc, d_att, n, r, labels, dtype, values_only=False):
    mask = torch.tensor([[letter == "1" for letter in row] for row in mask.split()])
    (B, L) = mask.shape

    def drawn(*shape, size=1.0):
        return size * torch.randn(*shape, generator=rng, dtype=dtype)

    previous = torch.softmax(drawn(B, L, size=2.0).masked_fill(~mask, -torch.inf), dim=-1)
    previous[-1] = F.one_hot(mask[-1].long().argmax(), L)  # one word was looked at where it begins
    return Case(
        *labels, values_only=values_only, state=drawn(B, d_hidden), encoded=drawn(B, L, d_enc), previous=previous,
        filters=drawn(n, 2 * r + 1, size=2.0), W_q=drawn(d_att, d_hidden, size=d_hidden**-0.5),
        W_k=drawn(d_att, d_enc, size=d_enc**-0.5), W_f=drawn(d_att, n), w_v=drawn(d_att, size=1.5), mask=mask,
    )  # fmt: skip


def _location_weights(
    state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask, *, widen=lambda p, r: F.pad(p, (r, r)),
    slide=lambda wide, filters: wide.unfold(1, filters.shape[1], 1) @ filters.T, read=lambda features: features,
    join=lambda query, keys: query[:, None] + keys, squash=torch.tanh, late=lambda located: (located, 0.0),
    score=lambda hidden, w_v: hidden @ w_v, hide=lambda scores, mask: scores.masked_fill(~mask, -torch.inf),
    share=lambda scores: scores.softmax(-1), after=lambda weights, mask: weights,
):  # fmt: skip
    features = read(slide(widen(previous, filters.shape[1] // 2), filters))
    inside, outside = late(features @ W_f.T)
    scores = score(squash(join(state @ W_q.T, encoded @ W_k.T + inside)) + outside, w_v)
    return after(share(hide(scores, mask)), mask)


_RIGHT_HERE = ("mask after the softmax, divided again", "no shift")  # no score is so far from another one here

FAULTS = (
    *(fault for fault in STEP if "values" not in fault.parts and fault.name not in _RIGHT_HERE),
    *faults_of("widen", "put r zeros on either side of the previous weights: the window's middle is the letter itself.",
        ("window begins at its letter", "each letter's window begins at the letter: it sees only what stands to its right.",
            lambda p, r: F.pad(p, (0, 2 * r))),
        ("window ends at its letter", "each letter's window ends at the letter: it sees only what stands to its left.",
            lambda p, r: F.pad(p, (2 * r, 0))),
        ("around the ends", "beyond one end of the word the window goes on at the other.",
            lambda p, r: p[:, torch.arange(-r, p.shape[1] + r) % p.shape[1]]),
        ("ends repeated", "beyond an end of the word the weight at that end is repeated.",
            lambda p, r: F.pad(p[:, None], (r, r), mode="replicate")[:, 0])),
    *faults_of("slide", "add up filters[k, r + o] * previous[j + o] over the window: that is f_jk.",
        ("filters turned around", "the filters are turned around: entry 0 meets the letter on the right.",
            lambda wide, filters: wide.unfold(1, filters.shape[1], 1) @ filters.flip(1).T),
        ("window averaged", "the window's products are averaged where they should be added up.",
            lambda wide, filters: wide.unfold(1, filters.shape[1], 1) @ filters.T / filters.shape[1]),
        ("first filter only", "every feature is that of the first filter.",
            lambda wide, filters: wide.unfold(1, filters.shape[1], 1) @ filters[:1].expand_as(filters).T),
        ("middle entry only", "a filter meets the weight at the letter itself and none beside it.",
            lambda wide, filters: wide.unfold(1, (w := filters.shape[1]), 1)[..., w // 2, None] * filters[:, w // 2]),
        ("whole row", "every letter gets the same numbers, from the whole row of weights and not from a window.",
            lambda wide, filters: wide.sum(1)[:, None, None] * filters.sum(1))),
    *faults_of("read", "give f_j to W_f as it is.",
        ("features squashed", "the features went through a tanh of their own.", torch.tanh),
        ("features left out", "the weights of the step before play no part.", torch.zeros_like)),
    Fault("features after the tanh", "W_f f_j is added after the tanh.", "add all three projections, then take one tanh.",
        late=lambda located: (0.0, located)),
)  # fmt: skip

EXERCISE = Exercise(
    answer="location_weights", cases=_cases, reference=_location_weights, returns=("weights",), faults=FAULTS,
    symptoms=(padding_keeps_weight,),
    advice="print f for the example: one look at letter 1 and the filter [1, 0, 0] must give 0, 0, 1, 0.",
)  # fmt: skip
