"""What LayerNorm and RMSNorm have in common: cases, and what goes wrong with the axis, epsilon, the root and the weight."""

import torch

from ..exercise import Case, Fault
from ..symptoms.view import Told, View


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


def gradient_not_finite(view: View) -> Told | None:
    """Right values, and a gradient that is NaN or infinite where it should be finite."""
    if not view.values_are_right():
        return None
    for seen in (view.cases[index] for index in view.wrong):
        gradients = seen.get("gradients", {"kind": "none"})
        if gradients["kind"] != "dict" or seen["changed"]:
            continue
        for key, got in gradients["value"]:
            if got["kind"] == "tensor" and not got["value"].isfinite().all():
                said = f"the values are right, but the gradient of `{key['value']}` is not finite."
                advice = "the root of exactly 0 has an infinite slope: add eps first, and take no root without it."
                return Told("symptom", "gradient not finite", said, advice)
    return None


def detached(function):
    """The same numbers, without the way back for a gradient."""
    return lambda *given: function(*given).detach()


_LAST = "each vector by itself: over the last axis alone, dim=-1, with keepdim=True."
_CUT = "leave .detach(), .data, .item() and torch.no_grad() out."


def mean_square(x, mean, axis, keep):
    """Of the numbers themselves, not of their distance from the mean."""
    return x.pow(2).mean(axis, keepdim=keep)


def cut_spread(what, spread):
    """The fault of a spread that no gradient passes through."""
    said = f"the numbers are right, but no gradient passes through the {what}: the gradient of x is wrong."
    return Fault(f"gradient cut in the {what}", said, _CUT, spread=detached(spread))


AXIS_FAULTS = (
    *(
        Fault(name, f"the statistics are taken {name}{more}: {who} see one another.", _LAST, axis=axis)
        for name, axis, more, who in (
            ("over the positions", 1, ", each feature by itself", "tokens"),
            ("over the batch", 0, ", as batch normalization does", "sentences"),
            ("over batch and positions", (0, 1), ", as batch normalization does", "all tokens"),
            ("over positions and features", (1, 2), " together", "tokens"),
            ("over everything", (0, 1, 2), " at once", "all tokens"),
        )
    ),
    Fault("keepdim missing", "the statistics have lost the last axis, (B, L): they line up with the features, if at all.",
        "keep it: keepdim=True gives (B, L, 1).", keep=False),
)  # fmt: skip

EPSILON_FAULTS = (
    Fault("no epsilon", "epsilon was not used: where the root is 0, something is divided by zero.",
        "add eps below the root.", small=lambda eps: 0.0),
    *(
        Fault(f"epsilon fixed at {fixed}", f"an epsilon of {fixed} whatever the argument eps says.",
            "use the argument eps.", small=lambda eps, fixed=fixed: float(fixed))
        for fixed in ("1e-5", "1e-6", "1e-8")
    ),
    Fault("epsilon outside", "epsilon was added outside the root, to what the root gives.",
        "add it below: sqrt(... + eps).", root=lambda square, eps: square.sqrt() + eps),
    Fault("epsilon as a limit", "epsilon was taken as a lower limit instead of being added.",
        "add eps to what stands below the root.", root=lambda square, eps: square.clamp(min=eps).sqrt()),
    Fault("no root", "the root is missing: divided by what stands below it.", "divide by sqrt(... + eps).",
        root=lambda square, eps: square + eps),
)  # fmt: skip

WEIGHT_FAULTS = (
    Fault("weight missing", "the weight was not used.", "multiply by weight.", scale=lambda y, weight, bias: y),
    Fault("one plus weight", "multiplied by 1 + weight.", "multiply by weight alone: here it starts at 1, not at 0.",
        scale=lambda y, weight, bias: y * (1 + weight)),
)  # fmt: skip
