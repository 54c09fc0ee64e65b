"""9.7 · Two other wirings."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L, d, wiring, dtype=torch.float32):
        number = int(torch.randint(10**6, (), generator=rng))
        x = 1.5 * torch.randn(B, L, d, generator=rng) + torch.randn(B, L, 1, generator=rng)
        return Case(f"`wiring` is {wiring!r}", driver={"seed": number}, x=x.to(dtype), wiring=wiring)

    plan = ((1, 2, 3), (2, 3, 4), (3, 4, 5, torch.float64), (2, 5, 6))
    return [case(*sizes[:3], wiring, *sizes[3:]) for sizes in plan for wiring in ("sandwich", "parallel")]


EXERCISE = Exercise(
    cases,
    returns=("output",),
    driver="drive_wired",
    gradients=True,
    atol=2e-5,
    pairs=120,
    advice="draw the line from x to the result: how many branches leave it, and where?",
)
