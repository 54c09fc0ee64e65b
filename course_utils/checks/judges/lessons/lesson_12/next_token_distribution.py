"""Temperature, top-k and top-p."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.view import Told

MANY = torch.tensor([[0.0, 2.0, 1.0]]).repeat(1, 14).log1p()  # 42 tokens: an unstable sort mixes them


def _case(*labels, logits, temperature=1.0, top_k=None, top_p=None):
    return Case(*labels, logits=logits, temperature=temperature, top_k=top_k, top_p=top_p)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    by_hand = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()
    ties = torch.tensor([[1.0, 3.0, 2.0, 3.0, 2.0, 2.0, -1.0]]).roll(int(torch.randint(2, (), generator=rng)), 1)
    tie = "tokens are equally probable"
    return [
        _case(logits=by_hand, top_p=0.6),
        _case(logits=by_hand, top_k=2),
        _case("`top_p` is reached exactly", tie, logits=torch.zeros(1, 2), top_p=0.5),  # 1/2 carries no rounding
        _case("the sums after top-k reach `top_p` earlier", logits=by_hand, top_k=3, top_p=0.83),
        _case(tie, logits=ties, top_k=3),
        _case(tie, logits=ties, top_k=4, temperature=0.8),
        _case(tie, logits=ties, temperature=0),
        _case(tie, logits=ties, top_p=0.71),  # two of the three tokens with the logit 2 or 3 that come second
        _case(tie, "many tokens are equally probable", logits=MANY, top_k=20),
        _case("the temperature is low", logits=torch.tensor([[10.0, 0.0, 9.9], [0.1, 0.0, 0.05]]), temperature=0.05),
        _case("the temperature is low", logits=torch.tensor([[0.1, 0.0], [0.3, 0.5]]), temperature=0.4),
        _clear(rng, 2, 11, 0.7, None, None),
        _clear(rng, 2, 11, 1.6, 5, None),
        _clear(rng, 3, 7, 1.0, None, 0.75),
        _clear(rng, 2, 9, 1.7, None, 0.7),
        _clear(rng, 3, 9, 0.6, 6, 0.8),
        _clear(rng, 3, 9, 0.6, 6, 0.8, torch.float64),
        _case("`top_k` is larger than V", logits=torch.randn(2, 5, generator=rng), top_k=12),
        _case(logits=torch.randn(3, 5, generator=rng), top_p=0.0),
        _case(logits=torch.randn(2, 6, generator=rng), top_k=1, top_p=1.0),
        _case(logits=torch.randn(3, 6, generator=rng), temperature=0, top_k=2, top_p=0.9),
    ]


def _clear(rng, batch, vocab, temperature, top_k, top_p, dtype=torch.float32):
    """Draw until no running sum is near ``top_p``, the rows keep unequal numbers, and it matters where the heat comes."""
    while True:
        logits = 1.5 * torch.randn(batch, vocab, generator=rng).to(dtype)
        case = _case(logits=logits, temperature=temperature, top_k=top_k, top_p=top_p)
        if top_p is None:
            return case
        ways = ((logits / temperature, True), (logits, True), (logits / temperature, False))
        (right, cool, early), clear = zip(*(_kept(x, top_k or vocab, top_p, share) for x, share in ways), strict=True)
        differ = (temperature == 1 or (cool != right).all()) and (top_k is None or (early != right).any())
        if all(clear) and differ and 1 < right.min() < right.max() < vocab:
            return case


def _kept(logits, top_k, top_p, share):
    """How many tokens of each row stay, and whether all sums are clearly above or below ``top_p``."""
    probs = logits.softmax(-1).sort(descending=True).values[:, :top_k]
    sums = (probs / probs.sum(-1, keepdim=True) if share else probs).cumsum(-1)
    return (sums < top_p).sum(-1) + 1, bool((sums - top_p).abs().min() > 5e-3)


def _one_hot(logits):
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)


def _shares(probs):
    return probs / probs.sum(-1, keepdim=True)


def _first(probs, number):
    """The places before ``number``."""
    return torch.arange(probs.shape[-1]) < number


def distribution(
    logits, temperature, top_k, top_p, *, cold=_one_hot, heat=lambda logits, temperature: logits / temperature,
    order=lambda probs: probs.sort(dim=-1, descending=True, stable=True), keep=_first, share_k=_shares,
    drop=lambda probs, before, top_p: (before >= top_p) & ~_first(probs, 1), share_p=_shares,
    back=lambda probs, ids: torch.zeros_like(probs).scatter(-1, ids, probs), finish=lambda probs: probs,
):  # fmt: skip
    """The distribution of the next token (Holtzman et al. 2020 for top-p); each keyword is one step."""
    if temperature == 0 and cold is not None:
        return cold(logits)
    probs, ids = order(heat(logits, temperature).softmax(-1))
    if top_k is not None:
        probs = share_k(probs * keep(probs, top_k))
    if top_p is not None:
        probs = share_p(probs.masked_fill(drop(probs, probs.cumsum(-1) - probs, top_p), 0.0))
    return finish(back(probs, ids))


def _last_first(probs):
    """Of equal ones the last comes first."""
    probs, ids = probs.flip(-1).sort(dim=-1, descending=True, stable=True)
    return probs, probs.shape[-1] - 1 - ids


def _unsorted_sums(logits, temperature, top_k, top_p):
    """Top-k by size, then the sums of top-p in the order of the ids."""
    probs = distribution(logits, temperature, top_k, None)
    if top_p is None or temperature == 0:
        return probs
    return distribution(probs.log(), 1.0, None, top_p, order=lambda p: (p, torch.arange(p.shape[-1]).expand_as(p)))


def _filled(chosen=lambda probs: probs, heat=lambda temperature: temperature, fill=-torch.inf):
    """A softmax of the logits where others than those ``chosen`` are filled with a number."""

    def answer(logits, temperature, top_k, top_p):
        if temperature == 0:
            return _one_hot(logits)
        probs = chosen(distribution(logits, heat(temperature), top_k, top_p))
        return (logits / temperature).masked_fill(probs == 0, fill).softmax(-1)

    return answer


def _up_to_ties(probs, before, top_p):
    """All that are as probable as the last one that stays, stay too."""
    last = ((before < top_p) | _first(probs, 1)).sum(-1, keepdim=True) - 1
    return probs < probs.gather(-1, last)


def _topk(logits, temperature, top_k, top_p):
    if top_k is not None and temperature:
        values, ids = logits.topk(top_k)
        logits = torch.full_like(logits, -torch.inf).scatter(-1, ids, values)
    return distribution(logits, temperature, None, top_p)


def _axis_by_position(view):
    seen = view.cases[view.first]
    if "sort() takes from 1 to 0 positional" not in seen.get("message", ""):
        return None
    said = "sort with stable=True takes the axis by its name only; PyTorch's own message does not say so."
    return Told("symptom", "axis by position", said, "name it: sort(dim=-1, descending=True, stable=True).")


_WITHOUT = "a token stays if the ones before it have not reached top_p yet: compare the sum without the token itself."
_SUM = "divide by the sum of what is left, or set logits to minus infinity before the softmax."
_STABLE = "sort with descending=True and stable=True; topk and sort without it keep no order among equals."

EXERCISE = Exercise(
    answer="next_token_distribution", cases=_cases, reference=distribution, returns=("probabilities",),
    symptoms=(_axis_by_position,),
    faults=(
        *faults_of("drop", "stop at the first token whose running sum reaches top_p.",
            ("crossing token dropped", "the token that crosses top_p was dropped: what is kept has less than was asked for.",
                lambda p, before, t: (before + p > t) & ~_first(p, 1), _WITHOUT),
            ("crossing token dropped, even the first",
                "the token that crosses top_p was dropped, even if it is the first: then nothing is left, and 0 / 0 is NaN.",
                lambda p, before, t: before + p > t, _WITHOUT),
            ("nothing left for top_p = 0", "with top_p = 0 every token was dropped, and 0 / 0 is NaN.",
                lambda p, before, t: before >= t, "the most probable token always stays."),
            ("top_p reached exactly", "where the tokens kept reach top_p exactly, one more was kept.",
                lambda p, before, t: before > t,
                "to reach top_p is enough: a token falls if the ones before it have top_p or more, >= and not >."),
            ("one token too many", "one token more than needed was kept: the one after the crossing.",
                lambda p, before, t: (F.pad(before, (1, 0))[:, :-1] >= t) & ~_first(p, 2)),
            ("one token too many, none for top_p = 0",
                "one token more than needed was kept: the one after the crossing (and for top_p = 0 none: NaN).",
                lambda p, before, t: before - F.pad(p, (1, 0))[:, :-1] >= t),
            ("top-p as a threshold", "each token's own probability was compared with top_p.",
                lambda p, before, t: (p < t) & ~_first(p, 1), "compare the sum of the tokens before it."),
            ("top-p keeps ties", "top-p kept all tokens that are as probable as the last one it needed.", _up_to_ties,
                "of equal ones those with the lower ids stay: work with places, not with a smallest probability.")),
        Fault("top-p not renormalized", "after top-p, what is left does not sum to 1.",
            "divide by the sum of what is left.", share_p=lambda probs: probs),
        Fault("top-k not renormalized", "after top-k, what is left was not renormalized.", _SUM, share_k=lambda probs: probs),
        Fault("renormalized only at the end",
            "top-p took its sums over probabilities that were not renormalized after top-k, or it came before top-k.",
            "temperature, then top-k and renormalize, then the sums of top-p.", share_k=lambda probs: probs, finish=_shares),
        *faults_of("keep",
            "exactly top_k tokens stay, of equal ones those with the lower ids: work with places after a stable sort.",
            ("one fewer", "top_k - 1 tokens are left.", lambda p, k: _first(p, max(k - 1, 1)),
                "places 0 to top_k - 1 stay: slice from top_k on."),
            ("least probable kept", "the least probable tokens were kept.", lambda p, k: ~_first(p, p.shape[-1] - k),
                "sort with descending=True; the first top_k stay."),
            ("top-k keeps ties", "more than top_k tokens are left: all that equal the last one were kept.",
                lambda p, k: p >= p[:, min(k, p.shape[-1]) - 1, None])),
        *faults_of("order", _STABLE,
            ("ties by the higher id", "of equally probable tokens those with the higher ids were kept.", _last_first),
            ("not stable", "of many equally probable tokens others than those with the lowest ids were kept.",
                lambda probs: probs.sort(dim=-1, descending=True))),
        *faults_of("whole", "sort with descending=True and stable=True, and slice: a slice does not mind a top_k above V.",
            ("topk", "torch.topk stops where top_k is larger than the vocabulary, and keeps no order among equals.", _topk),
            ("topk, no order among equals", "torch.topk keeps no order among equals: others than the lowest ids were kept.",
                lambda logits, t, k, top_p: _topk(logits, t, k and min(k, logits.shape[-1]), top_p))),
        Fault("None for top_k", "with top_k = None no token is left: a slice [None:] is everything.",
            "leave top-k out where top_k is None.",
            whole=lambda logits, t, k, top_p: distribution(logits, t, 0 if k is None else k, top_p)),
        Fault("not stable, topk", "of equally probable tokens others than those with the lowest ids were kept.",
            "sort with descending=True and stable=True; topk keeps no order among equals.",
            order=lambda probs: probs.topk(probs.shape[-1])),
        Fault("unsorted sums", "the running sum runs over the tokens in the order of their ids.",
            "sort by probability first, and put the result back in place afterwards.", whole=_unsorted_sums),
        Fault("left sorted", "the probabilities came back in sorted order: they no longer belong to their ids.",
            "put them back: scatter by the places that sort gave.", back=lambda probs, ids: probs),
        *faults_of("heat", "divide the logits by the temperature, then take the softmax, once.",
            ("temperature without effect",
                "the temperature has no effect: it is not used, or it divides the probabilities, and renormalizing undoes that.",
                lambda logits, t: logits),
            ("softmax twice", "a softmax of probabilities: it was taken twice.", lambda logits, t: logits.softmax(-1) / t),
            ("temperature multiplied", "the logits were multiplied by the temperature: hot is cold.",
                lambda logits, t: logits * t, "divide them: a temperature above 1 makes the distribution flatter.")),
        Fault("temperature at the end", "top-k and top-p looked at the probabilities without temperature, which came last.",
            "divide the logits by the temperature first of all.", whole=_filled(heat=lambda temperature: 1.0)),
        *faults_of("cold", "treat 0 on its own: all probability on the most probable token; of equal ones, the lowest id.",
            ("temperature 0", "temperature 0 was divided by: infinities and NaN.", None),
            ("greedy gives an id", "for temperature 0 an id came back, not a distribution.", lambda logits: logits.argmax(-1),
                "return probabilities here too: 1 for the most probable token, 0 for the others."),
            ("greedy shares", "at temperature 0 several tokens with the same logit share the probability.",
                lambda logits: _shares((logits == logits.amax(-1, keepdim=True)).to(logits.dtype))),
            ("greedy takes the last", "at temperature 0 the last of several equal tokens was taken.",
                lambda logits: _one_hot(logits.flip(-1)).flip(-1))),
        Fault("first row's choice for all", "the tokens of the first row were kept in every row.",
            "each row keeps its own: sort and sum over the last axis.", whole=_filled(lambda probs: probs[:1])),
        Fault("zeros for logits", "what is ruled out got the logit 0, whose exponential is 1.",
            "minus infinity is the logit of probability 0.", whole=_filled(fill=0.0)),
    ),
    advice="try it on the probabilities 0.5, 0.3, 0.15, 0.05 and print the result after every step.",
)  # fmt: skip
