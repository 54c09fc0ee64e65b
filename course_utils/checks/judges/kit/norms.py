"""What LayerNorm and RMSNorm have in common: cases, and what goes wrong with the axis, epsilon, the root and the weight."""

import torch

from ..exercise import Case, Fault
from .parts import faults_of


def norm_cases(seed, *, with_bias):
    """Ordinary vectors; small ones, where epsilon counts; a large epsilon; vectors that only epsilon saves from 0 / 0."""
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for label, shape, size, eps, dtype in (
        ("", (2, 3, 4), 1.0, 1e-5, torch.float32),
        ("", (3, 5, 6), 1.0, 1e-5, torch.float32),
        ("the entries are small", (2, 7, 5), 0.003, 1e-5, torch.float32),
        ("eps is large", (4, 3, 10), 1.5, 0.5, torch.float32),
        ("a vector has variance 0" if with_bias else "a vector is all zeros", (2, 3, 8), 1.0, 1e-3, torch.float32),
        ("", (3, 5, 6), 2.0, 1e-5, torch.float32),  # sizes seen before, other numbers
        ("", (2, 4, 3), 1.0, 1e-6, torch.float64),
    ):
        x = size * (torch.randn(shape, generator=rng) + torch.randn(*shape[:2], 1, generator=rng))
        if label.startswith("a vector"):
            x[0, 1], x[1, 0] = (2.0, -0.5) if with_bias else (0.0, 0.0)
        given = {"x": x, "weight": 1 + 0.5 * torch.randn(shape[-1], generator=rng)}
        if with_bias:
            given["bias"] = torch.randn(shape[-1], generator=rng)
        given = {name: value.to(dtype) for name, value in given.items()}
        cases.append(Case(*filter(None, [label]), **given, eps=eps))
    return cases


LAST = {"dim": -1, "keepdim": True}  # what the statistics are taken over
DIVIDED_TOO = "epsilon is added to the sum of the squares, so that it is divided by d as well."
INSIDE = "add eps below the root: sqrt(... + eps)."


def mean_square(x, mean, over):
    """Of the numbers themselves, not of their distance from the mean."""
    return x.square().mean(**over)


OVER_FAULTS = faults_of(
    "over", "each vector by itself: over the last axis alone, dim=-1, with keepdim=True.",
    *((name, f"the statistics are taken {name}{more}: {who} see one another.", {"dim": axis, "keepdim": True})
      for name, axis, more, who in (
          ("over the positions", 1, ", each feature by itself", "tokens"),
          ("over the batch", 0, ", as batch normalization does", "sentences"),
          ("over batch and positions", (0, 1), ", as batch normalization does", "all tokens"),
          ("over positions and features", (1, 2), " together", "tokens"),
          ("over everything", (0, 1, 2), " at once", "all tokens"))),
    ("keepdim missing", "the statistics have lost the last axis, (B, L): they line up with the features, if at all.",
     {"dim": -1}, "keep it: keepdim=True gives (B, L, 1)."),
)  # fmt: skip

ROOT_FAULTS = (
    Fault("no epsilon", "epsilon was not used: where the root is 0, something is divided by zero.", INSIDE,
          small=lambda eps: 0.0),
    *faults_of("small", "use the argument eps.", *(
        (f"epsilon fixed at {fixed}", f"an epsilon of {fixed} whatever the argument eps says.",
         lambda eps, fixed=fixed: float(fixed)) for fixed in ("1e-5", "1e-6", "1e-8"))),
    *faults_of("root", INSIDE,
        ("epsilon outside", "epsilon was added outside the root, to what the root gives.", lambda s, eps: s.sqrt() + eps),
        ("epsilon as a limit", "epsilon was taken as a lower limit instead of being added.",
         lambda s, eps: s.clamp(min=eps).sqrt()),
        ("no root", "the root is missing: divided by what stands below it.", lambda s, eps: s + eps,
         "divide by sqrt(... + eps)."),
        ("gradient not finite", "the values are right, but the gradient of `x` is not finite: a root was taken before "
         "eps was added, and the root of exactly 0 has an infinite slope.", lambda s, eps: (s.sqrt().square() + eps).sqrt()),
        ("gradient cut in the root", "the numbers are right, but no gradient passes through what stands below the "
         "root: the gradient of x is wrong.", lambda s, eps: (s.detach() + eps).sqrt(),
         "leave .detach(), .data, .item() and torch.no_grad() out.")),
)  # fmt: skip

WEIGHT_FAULTS = faults_of(
    "scale", "multiply by weight, which starts at 1, not at 0.",
    ("weight missing", "the weight was not used.", lambda y, weight, bias: y),
    ("one plus weight", "multiplied by 1 + weight.", lambda y, weight, bias: y * (1 + weight)),
)  # fmt: skip
