"""The biases of ALiBi."""

import re

import torch

from course_utils import positions

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.view import Told


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(slopes=torch.tensor([0.5]), L_q=2, L_k=3)]
    for H, L_q, L_k in ((2, 4, 4), (4, 5, 7), (3, 1, 6), (5, 3, 8), (4, 5, 7)):
        cases.append(Case(slopes=0.05 + 0.6 * torch.rand(H, generator=rng), L_q=L_q, L_k=L_k))
    cases[-1].labels = ("an earlier call had the same sizes",)
    return cases


def bias(
    slopes, L_q, L_k, *,
    rates=lambda slopes: slopes, spread=lambda slopes: slopes[:, None, None],
    places=lambda L_q, L_k: torch.arange(L_k - L_q, L_k), measure=lambda q, k: (q - k).abs(), sign=-1,
    finish=lambda bias: bias,
):  # fmt: skip
    """The bias (Press et al. 2022); each keyword is one step."""
    distance = measure(places(L_q, L_k)[:, None], torch.arange(L_k))  # (L_q, L_k)
    return finish(sign * spread(rates(slopes)) * distance + 0.0)


def _causal(bias):
    L_q, L_k = bias.shape[-2:]
    return bias.masked_fill(torch.ones(L_q, L_k, dtype=torch.bool).triu(L_k - L_q + 1), -torch.inf)


def slopes_meet_places(view):
    """It stops where the number of heads is not that of queries or keys: the slopes stand on an axis of theirs."""
    stopped = [index for index in view.wrong if view.cases[index]["outcome"] == "raised"]
    met = [_SIZES.search(view.cases[index]["message"]) for index in stopped]
    if not stopped or None in met:
        return None
    for name, axis, lines in (
        ("L_q", "queries, as slopes[:, None] does", "row"),
        ("L_k", "keys, as slopes alone does", "column"),
    ):
        sizes = [{len(view.inputs[index]["slopes"]), view.inputs[index][name]} for index in stopped]
        if all({*map(int, found.groups())} == wanted for found, wanted in zip(met, sizes, strict=True)):
            said = f"the slopes lie along the axis of the {axis}: each meets one {lines} of the distances, not a whole table."
            return Told("symptom", f"slopes on the axis of {name}", said, _TWO_MORE)
    return None


_SIZES = re.compile(r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)")
_TWO_MORE = "the slopes need two more axes, so that they multiply the table head by head."
_LAST = "query i stands at position i + (L_k - L_q)."
_ABSOLUTE = "the distance is counted in both directions: take the absolute value of the difference."

EXERCISE = Exercise(
    answer="alibi_bias", cases=_cases, reference=bias, returns=("bias",), faults=(
        Fault("positive", "no minus sign: the farthest key gets the largest bonus.",
            "minus slope times distance: far keys are pushed down.", sign=1),
        Fault("top-left", "the queries stand at the first positions; with L_q < L_k they should be the last ones.", _LAST,
            places=lambda L_q, L_k: torch.arange(L_q)),
        Fault("top-left but for one", "several queries stand at the first positions; only a single one stands last.", _LAST,
            places=lambda L_q, L_k: torch.arange(L_q) + (L_k - 1 if L_q == 1 else 0)),
        Fault("offset on the wrong side", "the shift has the wrong sign: the queries stand before position 0.", _LAST,
            places=lambda L_q, L_k: torch.arange(L_q) - (L_k - L_q)),
        Fault("queries one too far", "the queries stand one position too far.", f"{_LAST} The last one stands at L_k - 1.",
            places=lambda L_q, L_k: torch.arange(L_k - L_q, L_k) + 1),
        Fault("queries one too early", "the queries stand one position too early.", f"{_LAST} The last one stands at L_k - 1.",
            places=lambda L_q, L_k: torch.arange(L_k - L_q, L_k) - 1),
        Fault("one row for all", "all queries have the distances of the last one.", f"each query has its own row: {_LAST}",
            places=lambda L_q, L_k: torch.full((L_q,), L_k - 1)),
        *faults_of("measure", _ABSOLUTE,
            ("signed", "a distance with a sign: keys of the future get a bonus.", lambda q, k: q - k),
            ("signed the other way", "a distance with a sign: keys of the past get a bonus.", lambda q, k: k - q),
            ("future not counted", "keys of the future get no bias at all.", lambda q, k: (q - k).clamp(min=0)),
            ("squared", "slope times the square of the distance.", lambda q, k: (q - k) ** 2, "slope times distance."),
            ("one step too far", "every distance is one too large.", lambda q, k: (q - k).abs() + 1,
             "a query and a key at the same position have distance 0, and the bias 0."),
            ("key position",
             "slope times the position of the key. After a causal softmax that is the same; here distances are asked for.",
             lambda q, k: -k.expand(len(q), -1), "minus slope times the distance of query and key.")),
        Fault("future hidden", "minus infinity in the future: the bias and a causal mask in one.",
            "the mask is applied elsewhere; here the distance is counted in both directions.", finish=_causal),
        Fault("one slope for all", "the slope of head 0 for every head.", "multiply the distances by each head's own "
            "slope: slopes[:, None, None].", rates=lambda slopes: slopes[:1].expand_as(slopes)),
        Fault("slopes of its own", "slopes computed from the number of heads; the argument is not used.",
            "use the slopes that are handed in.", rates=lambda slopes: positions.alibi_slopes(len(slopes))),
        Fault("slopes multiplied on", "head h has the product of the slopes 0 to h: each table is made from the one before.",
            "begin every head with the distances.", rates=lambda slopes: slopes.cumprod(0)),
        Fault("divided", "the distance divided by the slope.", "slope times distance.", rates=torch.reciprocal),
        Fault("slopes without axes", "the slopes meet the table of distances without axes of their own.",
            _TWO_MORE, spread=lambda slopes: slopes),
        Fault("square", "L_q rows and L_q columns.", "one column for each of the L_k keys.",
            finish=lambda bias: bias[..., -bias.shape[-2] :]),
        Fault("heads last", "the heads stand last: (L_q, L_k, H).", "the heads come first: slopes[:, None, None] times "
            "the table of distances.", finish=lambda bias: bias.permute(1, 2, 0)),
    ), symptoms=(slopes_meet_places,),
    advice="write down the distances for L_q = 2, L_k = 3 by hand, and multiply them by the slope of each head.",
)  # fmt: skip
