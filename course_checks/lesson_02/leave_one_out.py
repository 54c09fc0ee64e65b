"""2.3 · Leave one out, all at once."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    x, y = torch.tensor([0.0, 1.0, 3.0]), torch.tensor([0.0, 2.0, 2.0])
    first = {"x": x, "y": y, "bandwidths": torch.tensor([0.5, 2.0])}
    made, h = [Case(**first)], torch.tensor([0.3, 0.8, 1.4])
    for n, dtype in ((7, torch.float32), (9, torch.float64), (7, torch.float32)):
        x, noise = (torch.rand(n, generator=rng, dtype=dtype) for _ in range(2))
        made.append(Case(x=3 * x, y=torch.sin(6 * x) + noise, bandwidths=1.5 * h.to(dtype)[: 11 - n]))
    for label, x, y in (
        ("two points have the same x", [0.0, 1.0, 1.0, 2.5, 2.5, 3.0], [1.0, 0.0, 3.0, 2.0, -1.0, 0.5]),
        ("a point lies far away", [0.0, 1.0, 2e5, 2.5], [0.0, 2.0, 3.0, 1.0]),
    ):
        made.append(Case(label, x=torch.tensor(x), y=torch.tensor(y), bandwidths=h, values_only=True))
    made.append(Case("the bandwidths are not in order", **first | {"bandwidths": torch.tensor([2.0, 0.5])}))
    x = torch.linspace(0, 9, 400)
    too_many = "it loops over the points: more than 200 operations, or 1,000 steps of Python"
    limit = {"most_operations": 200, "too_many": too_many}
    many = {"x": x, "y": x.sin(), "bandwidths": h[:1]}
    return [*made, Case("there are many points", **many, values_only=True, driver=limit)]


EXERCISE = Exercise(
    cases,
    returns=("errors", "best"),
    gradients=True,
    atol=2e-5,
    advice="by hand: x = [0, 1, 3], bandwidth 2: the first point sees scores -1/8 and -9/8; print your weights.",
)
