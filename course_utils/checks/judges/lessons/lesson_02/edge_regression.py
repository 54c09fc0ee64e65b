"""Kernel regression with Epanechnikov's kernel, and the nearest key where no key counts."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.attention import shared
from ...kit.parts import faults_of
from ...kit.shapes import without_new_axes


def _as_near(kernel, far):
    return (far == far.amin(-1, keepdim=True)).to(kernel.dtype)


def edge_regression(
    x_query, x_key, y_key, bandwidth, *, size=lambda u, h: (u / h) ** 2, edge=lambda k: k.clamp(min=0), outside=_as_near,
    weigh=shared,
):  # fmt: skip
    """Predictions and the weights of the keys."""
    far = (x_query[:, None] - x_key).abs()
    kernel = edge(1 - size(far, bandwidth))
    weights = weigh(torch.where(kernel.sum(-1, keepdim=True) == 0, outside(kernel, far), kernel))
    return weights @ y_key, weights


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    x_key, y_key = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([40.0, 60.0, 140.0])
    cases = [Case(x_query=torch.tensor([3.2, 1.7]), x_key=x_key, y_key=y_key, bandwidth=2.0)]
    for L_q, L_k, bandwidth in ((5, 7, 1.9), (9, 4, 2.7), (4, 4, 2.4), (5, 7, 2.1)):
        dtype = torch.float64 if L_k == 4 else torch.float32
        x_query, x_key, y_key = (torch.rand(n, generator=rng, dtype=dtype) for n in (L_q, L_k, L_k))
        x_key = 4 * (torch.arange(L_k) + 0.8 * x_key) / L_k  # no gap is wider than a bandwidth
        cases.append(Case(x_query=0.2 + 3.6 * x_query, x_key=x_key, y_key=4 * y_key - 2, bandwidth=bandwidth))
    for label, *values, h in (
        ("a query is far away from every key", [0.5, 30.0, 2.1, -9.0], [0.0, 1.0, 3.0], [1.0, -1.0, 2.0], 1.2),
        ("two keys are nearly equally near", [60.0, -5.0, 2.0], [3.6, 4.0, 0.0005, 0.0], [1.0, 5.0, 2.0, 8.0], 2.0),
        ("a key lies just inside the edge", [0.0, 9.0], [-0.9999, 0.99995], [0.0, 1.0], 1.0),
        ("several keys are equally near", [2.0, 0.25], [3.0, 1.0, 0.0, 1.0], [1.0, 5.0, 2.0, 8.0], 0.75),
        ("the nearest key lies exactly at the edge", [0.5, 4.0, 2.0], [0.0, 1.0, 3.0], [1.0, -1.0, 2.0], 1.0),
    ):  # fmt: skip
        values = (torch.tensor(some, dtype=torch.float64) for some in values)
        given = dict(zip(("x_query", "x_key", "y_key"), values, strict=True))
        cases.append(Case(label, **given, bandwidth=h, values_only="far away" not in label))
    return cases


EXERCISE = Exercise(
    answer="edge_regression", cases=_cases, reference=edge_regression, returns=("prediction", "weights"), atol=2e-5,
    symptoms=(without_new_axes("x_query", "x_key", -1),), faults=(
        *faults_of("size", "compute 1 - (u / bandwidth)**2, then cut off what is below 0.",
            ("not squared", "a triangle, 1 - |u| / h: the square is missing.", lambda u, h: u / h),
            ("bandwidth not squared", "u squared over h: the bandwidth itself is not squared.", lambda u, h: u**2 / h),
            ("two kept", "u squared over 2 h squared; that 2 belongs to the Gaussian.", lambda u, h: u**2 / (2 * h**2)),
            ("Gaussian", "the Gaussian bump, which has no edge.", lambda u, h: 1 - (-(u**2) / (2 * h**2)).exp())),
        Fault("no edge", "the kernel below 0 is kept: far keys get negative weights.", "use clamp(min=0).", edge=lambda k: k),
        *faults_of("outside", "where a row of the kernel is all 0, give its nearest keys a 1 before you divide.",
            ("NaN", "rows without any key in reach are 0 divided by 0.", lambda k, far: k),
            ("all alike", "a query that reaches no key weighs all keys alike.", lambda k, far: torch.ones_like(k)),
            ("first of the nearest", "of several equally near keys only one gets weight.",
             lambda k, far: F.one_hot(far.argmin(-1), k.shape[-1]).to(k.dtype), "compare all with the smallest.")),
        Fault("no weight", "rows without any key in reach get no weight at all.", "give it to the nearest key.",
              outside=lambda kernel, far: kernel, weigh=lambda k: torch.nan_to_num(shared(k))),
        *faults_of("weigh", "divide each row by its own sum: .sum(dim=-1, keepdim=True).",
            ("not normalized", "the kernel itself, not shared out.", lambda k: k),
            ("softmax of the kernel", "a softmax of the kernel: keys outside the edge get weight too.", lambda k: k.softmax(-1))),
    ), advice="for the query 2, the keys 1, 2, 4 and bandwidth 2 the kernel is 0.75, 1, 0; print yours.",
)  # fmt: skip
