"""Leave-one-out errors of kernel regression, all points at once."""

import math

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.attention import shared
from ...kit.parts import faults_of


def leave_one_out(
    x, y, bandwidths, *, width=lambda d, h: d**2 / (2 * h**2),
    hide=lambda s, d: s.masked_fill(torch.eye(len(d)).bool(), -math.inf),
    weigh=lambda s: s.softmax(-1), loss=torch.square, over=lambda e: e.mean(-1), best=lambda errors, h: h[errors.argmin()],
):  # fmt: skip
    """The error of every bandwidth, and the best of them."""
    d = x[:, None] - x
    scores = hide(-width(d, bandwidths[:, None, None]), d)
    errors = over(loss(weigh(scores) @ y - y))
    return errors, best(errors, bandwidths)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    x, y = torch.tensor([0.0, 1.0, 3.0]), torch.tensor([0.0, 2.0, 2.0])
    cases = [Case(x=x, y=y, bandwidths=torch.tensor([0.5, 2.0]))]
    h = torch.tensor([0.3, 0.8, 1.4])
    for n, dtype in ((7, torch.float32), (9, torch.float64), (7, torch.float32)):
        x, noise = (torch.rand(n, generator=rng, dtype=dtype) for _ in range(2))
        cases.append(Case(x=3 * x, y=torch.sin(6 * x) + noise, bandwidths=1.5 * h.to(dtype)[: 11 - n]))
    same = {"x": torch.tensor([0.0, 1.0, 1.0, 2.5, 2.5, 3.0]), "y": torch.tensor([1.0, 0.0, 3.0, 2.0, -1.0, 0.5])}
    far = {"x": torch.tensor([0.0, 40.0, 1.0, 1.5, -90.0]), "y": torch.tensor([1.0, 2.0, -1.0, 4.0, 0.0])}
    farther = {"x": torch.tensor([0.0, 1.0, 2e5]), "y": torch.tensor([0.0, 2.0, 3.0])}
    alone = ("a point lies far away", far), ("a point lies very far away", farther)
    for label, given in (("two points have the same x", same), *alone):
        cases.append(Case(label, **given, bandwidths=h, values_only=True))
    cases.append(Case("the bandwidths are not in order", **cases[0] | {"bandwidths": torch.tensor([2.0, 0.5])}))
    x, limit = torch.linspace(0, 9, 400), {"_most": 200, "_said": "it loops over the points: more than 200 operations"}
    return [*cases, Case("there are many points", x=x, y=x.sin(), bandwidths=h[:1], values_only=True, **limit)]


_HIDE = "give the diagonal of the scores minus infinity before the softmax; everything else stays."

EXERCISE = Exercise(
    answer="leave_one_out", cases=_cases, reference=leave_one_out, returns=("errors", "best"), atol=2e-5, faults=(
        *faults_of("hide", _HIDE,
            ("itself included", "every point sees itself: a small bandwidth looks perfect.", lambda s, d: s),
            *((f"itself nearly hidden, {low:g}", "the diagonal is a large negative number, but a lonely point has lower scores.",
               lambda s, d, low=low: s.masked_fill(torch.eye(len(d)).bool(), low)) for low in (-1e4, -1e5, -1e6, -1e9)),
            ("equal x hidden", "points with the same x don't see each other.", lambda s, d: s.masked_fill(d == 0, -math.inf))),
        Fault("zeroed, not shared out", "the diagonal is set to 0 after the softmax, and the rows no longer sum to 1.",
              _HIDE, hide=lambda s, d: s, weigh=lambda s: s.softmax(-1).masked_fill(torch.eye(s.shape[-1]).bool(), 0.0)),
        Fault("zeroed, then divided", "the diagonal is set to 0 after the exponential, so a lonely point is left with 0 / 0.",
              _HIDE, hide=lambda s, d: s, weigh=lambda s: shared(s.softmax(-1).masked_fill(torch.eye(s.shape[-1]).bool(), 0.0))),
        Fault("kernel over its sum", "the kernel over its sum: a lonely point gets 0 / 0.",
              "use a softmax of the scores, which shifts each row first.", weigh=lambda s: shared(s.exp())),
        *faults_of("width", "the scores are minus the squared distance over 2 * bandwidth**2.",
            ("bandwidth inverted", "multiplied by the squared bandwidth.", lambda d, h: d**2 / 2 * h**2),
            ("bandwidth not squared", "the bandwidth itself is not squared.", lambda d, h: d**2 / (2 * h)),
            ("two lost", "the 2 in the denominator is missing.", lambda d, h: d**2 / h**2),
            ("distance not squared", "a kernel of the distance; its square is missing.", lambda d, h: d.abs() / h)),
        Fault("absolute error", "the mean absolute error; squared is asked for.", "square the differences.", loss=torch.abs),
        Fault("sum", "the sum of the squared errors.", "take their mean: .mean(dim=-1).", over=lambda e: e.sum(-1)),
        *faults_of("best", "the smallest error is at errors.argmin(); return the bandwidth that stands there.",
            ("position", "the best bandwidth's position instead of the bandwidth.", lambda errors, h: errors.argmin()),
            ("smallest error", "the smallest error stands where the bandwidth should.", lambda errors, h: errors.min())),
    ), advice="by hand: x = [0, 1, 3], bandwidth 2: the first point sees scores -1/8 and -9/8; print your weights.",
)  # fmt: skip
