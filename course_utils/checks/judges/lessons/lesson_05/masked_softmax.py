"""Rows in which everything is masked."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.masked import LOW, unmasked

LOWEST = -1e30  # above the smallest number of float32, and below any "large negative number" that one would write


def random_mask(shape, rng):
    """Random booleans in which every row allows something and hides something."""
    keep = torch.rand(shape, generator=rng) > 0.4
    one = torch.randint(shape[-1], shape[:-1], generator=rng)
    keep |= F.one_hot(one, shape[-1]).bool()
    return keep & ~F.one_hot((one + 1) % shape[-1], shape[-1]).bool()


def one_key_mask(shape, rng):
    """One True in every row: its weight is exactly 1, however low the scores and however the softmax is written."""
    return F.one_hot(torch.randint(shape[-1], shape[:-1], generator=rng), shape[-1]).bool()


def _open(mask):
    return mask.any(-1, keepdim=True)


def masked_softmax(
    scores, mask, *, read=lambda mask: mask, hide=lambda scores, mask: scores.masked_fill(~mask, -torch.inf),
    rescue=lambda scores, mask: scores.masked_fill(~_open(mask), 0.0), weigh=lambda scores: scores.softmax(-1),
    zero=lambda weights, mask: weights.masked_fill(~mask, 0.0), empty=lambda weights, mask, scores: weights,
):  # fmt: skip
    """A softmax in which hidden keys, and rows without any other, get 0; each keyword is one step."""
    mask = read(mask)
    return empty(zero(weigh(rescue(hide(scores, mask), mask)), mask), mask, scores)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    mask = torch.tensor([[True, True, False], [False, False, False]])
    cases = [Case(scores=torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 0.5]]), mask=mask)]
    for shape, mask_shape, empty in (
        ((2, 5, 7), (2, 5, 7), ((0, 1), (1, 4))),
        ((3, 4, 6), (3, 1, 6), ((1,),)),
        ((2, 5, 7), (2, 5, 7), ((0, 2), (1, 0))),
    ):
        mask = random_mask(mask_shape, rng)
        for row in empty:
            mask[row] = False
        scores = torch.randn(shape, generator=rng, dtype=torch.float64 if shape[0] == 3 else torch.float32)
        far = 300.0 if shape[0] == 3 else 0.0  # worked out in float32 such scores would be off
        cases.append(Case(scores=scores + far, mask=mask))
    mask = random_mask((4, 5), rng)
    mask[2] = False
    scores = torch.randn(4, 5, generator=rng) + 100.0 * torch.tensor([[1.0], [-1.0], [1.0], [0.0]])
    cases.append(Case("scores are large", scores=scores + 1e6 * ~mask, mask=mask))
    low = torch.randn(2, 6, generator=rng) + LOW
    cases.append(Case("all scores are near -100000", scores=low, mask=one_key_mask((2, 6), rng)))
    lower = LOWEST * (1 + torch.arange(6.0).expand(2, 6) / 8)
    cases.append(Case("all scores are near -1e30", scores=lower, mask=random_mask((2, 6), rng)))
    low = torch.tensor([[1.0], [1.5]]) * LOWEST + torch.randn(2, 6, generator=rng)
    cases.append(Case("all scores are near -1e30", scores=low, mask=one_key_mask((2, 6), rng)))
    mask = random_mask((4, 6), rng)
    mask[1] = False
    broken = torch.randn(4, 6, generator=rng)
    broken[0, int(mask[0].nonzero()[-1])] = torch.nan
    cases.append(Case("an allowed score is NaN", values_only=True, scores=broken, mask=mask))
    cases.append(Case("no row is empty", scores=torch.randn(3, 8, generator=rng), mask=random_mask((3, 8), rng)))
    mask = torch.ones(3, 4, dtype=torch.bool)
    mask[1] = False
    equal = torch.randn(3, 1, generator=rng).expand(3, 4).clone()
    return [*cases, Case("a row that hides nothing has equal scores", scores=equal, mask=mask)]


def notes(case, weights):
    """In a row with an allowed NaN, the hidden weights may be 0 or NaN: NaN is compared as 0 there."""
    scores, mask = case["scores"], case["mask"]
    if not isinstance(weights, torch.Tensor) or weights.shape != scores.shape:
        return weights
    broken = (scores.isnan() & mask).any(-1, keepdim=True)
    return weights.masked_fill(broken & ~mask & weights.isnan(), 0.0)


def _added(number):
    return lambda scores, mask: scores + torch.zeros_like(scores).masked_fill(~mask, number)


def _divided(powers, mask):
    return powers * mask / ((powers * mask).sum(-1, keepdim=True) + 1e-9)


def _times_infinity(scores, mask):
    return scores + (~mask).to(scores.dtype) * -torch.inf


def _below_the_allowed(scores, mask):
    """The largest allowed score is subtracted from all, the hidden ones too."""
    return scores - scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True)


def _below_the_allowed_or_0(scores, mask):
    largest = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True)
    return scores - largest.masked_fill(~_open(mask), 0.0)


def _shared(powers, mask):
    return powers * mask / (powers * mask).sum(-1, keepdim=True)


def _shared_or_0(powers, mask):
    return powers * mask / (powers * mask).sum(-1, keepdim=True).masked_fill(~_open(mask), 1.0)


_APART = "find the rows in which nothing is allowed (mask.any over the keys) and treat them apart."
_BACK = "set the weights to 0 where the mask is False, after the softmax."

EXERCISE = Exercise(
    answer="masked_softmax", cases=_cases, reference=masked_softmax, returns=("weights",), notes=notes, faults=(
        Fault("NaN", "minus infinity everywhere in a row: the softmax divides 0 by 0, and the row becomes NaN.", _APART,
            rescue=unmasked, zero=unmasked),
        Fault("NaN replaced by 0", "every NaN is replaced by 0 in the end, also where an allowed score is NaN: an error "
            "upstream would go unseen.", "treat only the rows apart in which nothing is allowed: ~mask.any over the keys.",
            rescue=unmasked, empty=lambda w, m, s: w.nan_to_num()),
        Fault("NaN replaced by 0, added", "minus infinity is added and the NaN replaced by 0 afterwards: that mends the "
            "weights, but not the gradient, and it hides a NaN among the allowed scores.", _APART,
            hide=_added(-torch.inf), rescue=unmasked, empty=lambda w, m, s: w.nan_to_num()),
        Fault("zero times infinity", "the mask is multiplied by minus infinity, and 0 times infinity is NaN: every row with "
            "an allowed key becomes NaN.", "fill instead of multiplying: masked_fill(~mask, minus infinity).",
            hide=_times_infinity, rescue=unmasked, zero=unmasked),
        Fault("zero times infinity, replaced", "the mask is multiplied by minus infinity, and 0 times infinity is NaN: what "
            "is allowed is lost, and replacing NaN does not bring it back.", "fill instead of multiplying: "
            "masked_fill(~mask, minus infinity).", hide=_times_infinity, rescue=unmasked, zero=unmasked,
            empty=lambda w, m, s: w.nan_to_num()),
        Fault("uniform", "a row in which everything is masked became uniform: all its hidden keys got the same score.",
            _BACK, empty=lambda w, m, s: torch.where(_open(m), w, torch.full_like(w, 1 / w.shape[-1]))),
        Fault("uniform, -1e9", "a row in which everything is masked became uniform: all its hidden keys got the same score.",
            _BACK, hide=lambda s, m: s.masked_fill(~m, -1e9), rescue=unmasked, zero=unmasked),
        Fault("mask not used", "a softmax over all keys: the mask plays no part.", "hide the scores where the mask is False, "
            "before the softmax.", hide=unmasked, rescue=unmasked, zero=unmasked),
        Fault("uniform, added", "a large negative number was added to the hidden scores: a row with nothing else keeps "
            "weights.", _BACK, hide=_added(-1e9), rescue=unmasked, zero=unmasked),
        Fault("NaN in the gradient only", "the weights are right, but where a row is empty the gradient is NaN.",
            "replacing NaN afterwards is too late: give such rows finite scores before the softmax, and zero them after it.",
            hide=_added(-torch.inf), rescue=unmasked),
        Fault("NaN, added", "minus infinity was added to a whole row: it becomes NaN, and so does its gradient.",
            _APART, hide=_added(-torch.inf), rescue=unmasked, zero=unmasked),
        Fault("zeroed after the softmax", "weights were set to 0 after a softmax over everything: rows that allow "
            "something do not sum to 1.", "hide the scores before the softmax too.", hide=unmasked, rescue=unmasked),
        Fault("renormalized afterwards", "the hidden keys were taken out after the exponentials: if a hidden score is "
            "large, nothing is left.", "hide the scores first, so that they take no part in the maximum or the sum.",
            hide=unmasked, rescue=unmasked, zero=_divided),
        *(Fault(name, "the hidden scores are exponentiated too, before the mask takes them out: one far above the allowed "
                "ones overflows, and infinity times 0 is NaN.", advice, hide=below, rescue=unmasked, weigh=torch.exp, zero=share)
          for name, advice, below, share in (
              ("hidden ones overflow", "fill the hidden scores before exp; a row in which nothing is allowed divides 0 by 0, so "
               "treat it apart.", _below_the_allowed, _shared),
              ("hidden ones overflow, empty rows safe", "fill the hidden scores before exp.", _below_the_allowed_or_0,
               _shared_or_0))),
        Fault("no shift", "exponentials without a shift: exp(100) overflows, and exp(-100000) is 0.",
            "use torch.softmax, or subtract the maximum of the allowed scores of each row.", hide=unmasked,
            rescue=unmasked, weigh=torch.exp, zero=_divided),
        Fault("inverted", "the mask was read the other way round.", "True means may attend; fill where it is False.",
            read=lambda m: ~m),
        Fault("all for any", "every row that hides anything was set to 0: all was used where any was meant.",
            "a row is empty if mask.any over the keys is False.", empty=lambda w, m, s: w * m.all(-1, keepdim=True)),
        Fault("not low enough", "a fill value such as -1e4: where the allowed scores lie lower, the hidden keys take "
            "the weight first.", "fill with float('-inf') in rows that allow something.",
            hide=lambda s, m: s.masked_fill(~m, -1e4), rescue=unmasked),
        Fault("not low enough, -1e9", "a fill value such as -1e9: where the allowed scores lie lower, the hidden keys take "
            "the weight first.", "fill with float('-inf') in rows that allow something.",
            hide=lambda s, m: s.masked_fill(~m, -1e9), rescue=unmasked),
        *(Fault(f"scores cut off at {low:g}", "the scores are cut off from below (clamp): those that lie lower become equal.",
                "leave the allowed scores as they are.", hide=lambda s, m, low=low: s.clamp(min=low).masked_fill(~m, -torch.inf))
          for low in (-1e4, -1e9)),
        Fault("over the queries", "a softmax over the queries (dim=-2): your columns sum to 1, your rows should.",
            "normalize over the keys, dim=-1.", weigh=lambda s: s.softmax(-2)),
        Fault("over the queries, hidden 0", "a softmax over the queries (dim=-2): your columns sum to 1, your rows should.",
            "normalize over the keys, dim=-1.", rescue=unmasked, weigh=lambda s: s.softmax(-2)),
        Fault("over the queries, empty columns", "a softmax over the queries (dim=-2): columns in which everything is hidden "
            "become NaN, and your rows do not sum to 1.", "normalize over the keys, dim=-1.", rescue=unmasked,
            zero=unmasked, weigh=lambda s: s.softmax(-2)),
        Fault("over the queries, no NaN", "a softmax over the queries (dim=-2): your columns sum to 1, your rows "
            "should.", "normalize over the keys, dim=-1.", rescue=unmasked, weigh=lambda s: s.softmax(-2).nan_to_num()),
        Fault("empty columns",
            "columns, keys that no query may see, were treated apart; it is the rows that may be empty.",
            "mask.any over the keys: dim=-1.", rescue=lambda s, m: s.masked_fill(~m.any(-2, keepdim=True), 0.0)),
        Fault("empty rows open", "an empty row was opened to all keys, and its weights were never taken back.", _BACK,
            empty=lambda w, m, s: torch.where(_open(m), w, s.softmax(-1))),
    ),
    advice="print the weights of an empty row, then call backward() and print scores.grad.",
)  # fmt: skip
