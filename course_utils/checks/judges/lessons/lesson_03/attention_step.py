"""One step of additive attention with a source mask."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.padded import padding_keeps_weight
from ...kit.parts import faults_of


def _case(rng, mask, d_state, d_enc, d_att, *labels, dtype=torch.float32, values_only=False):
    (B, L) = mask.shape

    def drawn(*shape, size=1.0):
        return size * torch.randn(*shape, generator=rng, dtype=dtype)

    return Case(
        *labels, values_only=values_only, state=drawn(B, d_state), encoded=1.0 + drawn(B, L, d_enc),
        W_q=drawn(d_att, d_state, size=d_state**-0.5), W_k=drawn(d_att, d_enc, size=d_enc**-0.5),
        w_v=drawn(d_att, size=1.5), mask=mask,
    )  # fmt: skip


def make_low(case, size, padding=-30.0):
    """One hidden feature becomes -1 at real letters (at padding the tanh of ``padding``), and counts ``size``."""
    case["W_q"][0], case["W_k"][0], case["W_k"][:, 0], case["w_v"][0] = 0.0, 0.0, 0.0, size
    case["W_k"][0, 0], case["encoded"][..., 0] = 1.0, torch.where(case["mask"], -30.0, padding).to(case["encoded"])
    return case


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def first(L, *lengths):
        return torch.arange(L) < torch.tensor(lengths)[:, None]

    low = _case(
        rng,
        first(7, 5, 3, 7),
        4,
        6,
        9,
        "the scores are low, those of padding are high",
        dtype=torch.float64,
        values_only=True,
    )
    anywhere = first(6, 3, 6, 4).flip(1)
    anywhere[1, 2] = False
    return [
        _case(rng, first(3, 3), 1, 2, 4),
        _case(rng, first(7, 5, 7), 4, 6, 9),
        _case(rng, first(6, 4, 1, 6), 8, 5, 7, dtype=torch.float64),
        _case(rng, first(5, 3, 5), 6, 10, 3),
        _case(rng, anywhere, 5, 4, 6, "padding stands in front or between the letters"),
        make_low(low, 800.0, padding=30.0),
        _case(rng, first(7, 7, 4), 4, 6, 9),  # sizes seen before, other numbers
    ]


def _attention_step(
    state, encoded, W_q, W_k, w_v, mask, *, join=lambda query, keys: query[:, None] + keys, squash=torch.tanh,
    score=lambda hidden, w_v: hidden @ w_v, hide=lambda scores, mask: scores.masked_fill(~mask, -torch.inf),
    share=lambda s: s.softmax(-1), after=lambda weights, mask: weights, values=lambda encoded, keys, mask: encoded,
):  # fmt: skip
    keys = encoded @ W_k.T
    scores = score(squash(join(state @ W_q.T, keys)), w_v)
    weights = after(share(hide(scores, mask)), mask)
    return torch.einsum("bl,bld->bd", weights, values(encoded, keys, mask)), weights


_HIDE = "set the scores of the padding to float('-inf') before the softmax."
_ADD = "add the projected state to every projected encoder state, then take one tanh of the sum."

FAULTS = (
    Fault("mask after the softmax", "the mask is applied after the softmax, without dividing again: rows with padding sum to "
        "less than 1.", _HIDE, hide=lambda scores, mask: scores, after=lambda weights, mask: weights * mask),
    Fault("mask after the softmax, divided again", "padding takes part in the softmax and is taken out afterwards: where its "
        "scores are far higher, nothing is left to divide by.", _HIDE, hide=lambda scores, mask: scores,
        after=lambda weights, mask: weights * mask / (weights * mask).sum(-1, keepdim=True)),
    Fault("no shift", "the exponentials are taken of the scores as they are: exp(800) is infinite, exp(-800) is 0.",
        "fill the padding's scores with float('-inf') and use torch.softmax, which subtracts the largest.",
        hide=lambda scores, mask: scores, share=torch.exp,
        after=lambda powers, mask: powers * mask / (powers * mask).sum(-1, keepdim=True)),
    Fault("not normalized, masked after", "the exponentials of the scores, not divided by their sum.",
        "use torch.softmax over the letters, dim=-1.", hide=lambda scores, mask: scores, share=torch.exp,
        after=lambda powers, mask: powers * mask),
    Fault("no mask", "the mask plays no part: padding gets weight.", _HIDE, hide=lambda scores, mask: scores),
    Fault("polarity inverted", "the mask is read the other way round: the real letters are hidden and the padding is seen.",
        "mask is True at real letters; masked_fill fills where its argument is True, so give it ~mask.",
        hide=lambda scores, mask: scores.masked_fill(mask, -1e9)),
    Fault("polarity inverted, -inf", "the mask is read the other way round: the real letters are hidden and the padding is "
        "seen, and a word without padding becomes NaN.", "mask is True at real letters; masked_fill fills where its argument is "
        "True, so give it ~mask.", hide=lambda scores, mask: scores.masked_fill(mask, -torch.inf)),
    Fault("not low enough", "the fill value is not low enough: where the real letters' scores lie lower than that, the padding "
        "takes the weight.", "fill with float('-inf'), below which there is nothing.",
        hide=lambda scores, mask: scores.masked_fill(~mask, -100.0)),
    Fault("scores of padding set to 0", "the scores of the padding are 0 or nearly so: exp(0) is 1, so padding still gets "
        "weight.", "fill with minus infinity, whose exponential is 0; a large number needs its minus sign: -1e9.",
        hide=lambda scores, mask: scores * mask),
    Fault("first letters taken as real", "only the number of real letters is used, and as many are taken from the front.",
        "padding may stand anywhere: use the mask itself, not its sum.",
        hide=lambda s, mask: s.masked_fill(torch.arange(mask.shape[1]) >= mask.sum(1, keepdim=True), -torch.inf)),
    Fault("encoder states zeroed", "the padding's encoder states are set to 0, while it keeps its share of the weights.", _HIDE,
        hide=lambda scores, mask: scores, values=lambda encoded, keys, mask: encoded * mask[..., None]),
    *faults_of("squash", "use torch.tanh.",
        ("no tanh", "the tanh is left out: then the state shifts all scores alike, and the weights do not depend on it.",
         lambda x: x, "take the tanh of the sum before you multiply by w_v."),
        ("sigmoid for tanh", "a sigmoid stands in the place of the tanh.", torch.sigmoid),
        ("relu for tanh", "a ReLU stands in the place of the tanh.", torch.relu)),
    Fault("product for sum", "the two projections are multiplied where they should be added.", _ADD,
        join=lambda query, keys: query[:, None] * keys),
    Fault("two tanhs, then the sum", "each projection gets a tanh of its own and the two are added afterwards: then the state "
        "shifts all scores of a word alike, and the weights do not depend on it.", "add before the tanh: one tanh of the sum.",
        join=lambda query, keys: query.tanh()[:, None] + keys.tanh(), squash=lambda x: x),
    Fault("new axis missing", "the projected state is added as it is, (B, d_att) to (B, L_s, d_att): its rows meet the "
        "letters.", "give it an axis of size 1 where the letters are: [:, None].", join=lambda query, keys: query + keys),
    Fault("state left out", "the weights do not depend on the decoder's state: it is left out, or added after the tanh.", _ADD,
        join=lambda query, keys: keys),
    *faults_of("score", "take one tanh, then the product with w_v, and leave the scores as they are.",
        ("scores divided by the root", "the scores are divided by the root of the hidden size: that belongs to lesson 04.",
         lambda hidden, w_v: hidden @ w_v / len(w_v) ** 0.5),
        ("tanh of the scores", "a second tanh is taken, of the scores.", lambda hidden, w_v: torch.tanh(hidden @ w_v))),
    *faults_of("share", "use torch.softmax over the letters, dim=-1.",
        ("softmax over the batch", "a softmax over the batch: the words compete with one another for each letter.",
         lambda scores: scores.softmax(0)),
        ("hard maximum", "all the weight lies on the best letter.",
         lambda scores: F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)),
        ("not normalized", "the exponentials of the scores, not divided by their sum.", torch.exp),
        ("sigmoid for softmax", "a sigmoid of each score: the rows do not sum to 1.", torch.sigmoid)),
    Fault("projected states averaged", "the projected encoder states are averaged (the keys): the values are the states "
        "themselves.", "the context is the weighted sum of encoded, of shape (B, d_enc).",
        values=lambda encoded, keys, mask: keys),
)  # fmt: skip

EXERCISE = Exercise(
    answer="attention_step", cases=_cases, reference=_attention_step, returns=("context", "weights"), faults=FAULTS,
    symptoms=(padding_keeps_weight,),
    advice="work out one short word by hand: the scores of its real letters, their softmax, then the sum of states.",
)  # fmt: skip
