"""5.4 · Four conventions, one mask."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import ATTENTIONS, MASKS, random_mask

INF = float("inf")


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def made(B, H, L_q, L_k, names, dtype=torch.float32, bias=torch.float32, lowest=False):
        """Scores and the masks that are named; everything in quarters, so that sums are exact in half precision."""
        quarters = (8 * torch.randn(B, H, L_q, L_k, generator=rng)).round() / 4
        keep = random_mask((B, L_k), rng).long()
        add = -torch.randint(0, 9, (H, L_q, L_k), generator=rng) / 4
        hidden = ~random_mask((H, L_q, L_k), rng)
        masks = {
            "attend": random_mask((L_q, L_k), rng),
            "ignore": ~random_mask((B, 1, L_q, L_k), rng),
            "keep": keep,
            "add": add.to(bias).masked_fill(hidden, torch.finfo(bias).min if lowest else -INF),
        }
        return {"scores": quarters.to(dtype), **{name: masks[name] if name in names else None for name in masks}}

    small = {
        "scores": torch.tensor([[[[0.0, 1.0, 2.0]]]]),
        "attend": None,
        "ignore": torch.tensor([[[[False, True, False]]]]),
    }
    strong = made(2, 3, 4, 5, ("add",), lowest=True)
    strong["add"][0, 0] = torch.tensor([-65504.0, -7e4, -2e9, -2.5e4, -1.0])
    every = ("attend", "ignore", "keep", "add")
    return [
        Case(**small, keep=torch.tensor([[1, 1, 0]]), add=torch.tensor([[-0.5, 0.0, 0.0]])),
        Case(**made(1, 2, 3, 4, ("attend",))),
        Case(**made(2, 3, 4, 5, ("keep",))),
        Case("B equals L_q", **made(4, 3, 4, 5, ("keep", "ignore"))),
        Case(**made(2, 3, 4, 6, ("add",))),
        Case(**made(3, 2, 5, 4, every)),
        Case(**made(3, 2, 5, 4, every, dtype=torch.float64)),
        Case("'add' hides with the lowest number of its type", **made(2, 3, 4, 5, ("add",), lowest=True)),
        Case(
            "'add' hides with the lowest number of its type", **made(2, 2, 4, 5, every, bias=torch.float16, lowest=True)
        ),
        Case("some biases are very low", **strong),
        Case(
            "'add' hides with the lowest number of its type", **made(2, 2, 3, 5, ("add",), torch.float64, lowest=True)
        ),
        Case("the scores are float16", **made(2, 3, 4, 5, ("ignore", "add"), dtype=torch.float16, lowest=True)),
        Case("there is no mask", **made(2, 2, 3, 4, ())),
    ]


EXERCISE = Exercise(
    cases,
    returns=("scores",),
    off_limits=(*ATTENTIONS, *MASKS),
    advice="print, for each of the four, a boolean tensor that says what it hides, and its shape.",
)
