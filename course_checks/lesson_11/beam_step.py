"""11.3 · One step for many words."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import symptom
from ..running.encode import decode
from .common import SEARCHES

MISSING = "some beams do not exist yet"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    rows = [[-1.0, -3.0, -9.0], [-0.5, -1.0, -9.0], [-4.0, -1.5, -0.5], [-1.0, -9.0, -9.0]]
    made = [Case(totals=torch.tensor([[-1.0, -2.0], [-1.0, -3.0]]), log_probs=torch.tensor(rows))]
    for B, K, V, *labels in (
        *((1, 3, 5), (3, 2, 4), (2, 4, 9), (5, 3, 6), (3, 1, 7), (4, 3, 8, MISSING)),
        (2, 4, 6, "the beams are improbable", MISSING),
        *((3, 5, 3, "more beams than symbols"), (3, 3, 3), (4, 2, 5, "`totals` and `log_probs` differ in dtype")),
    ):
        dtype = torch.float64 if B == 5 or "differ" in str(labels) else torch.float32
        totals = -3 * torch.rand(B, K, generator=rng, dtype=dtype) - 1
        if MISSING in labels:
            totals[:, K // 2 :] = -torch.inf
            totals -= 200 * (len(labels) > 1)
        logits = 2 * torch.randn(B * K, V, generator=rng, dtype=torch.float64 if B == 5 else torch.float32)
        log_probs = logits.log_softmax(-1)
        if "differ" in str(labels):  # numbers whose sums are the same in float32 and float64
            totals, log_probs = ((x * 2**18).round() / 2**18 for x in (totals, log_probs))
        made.append(Case(*labels, totals=totals, log_probs=log_probs))
    return made


def one_for_each_beam(answer):
    """The new totals are those of each beam's best candidate, in whatever order."""
    for case, seen in zip(answer.cases, answer.observed, strict=True):
        value = decode(seen["value"]) if seen["outcome"] == "returned" else None
        new = value[0] if isinstance(value, tuple | list) and value else None
        best = case["totals"] + case["log_probs"].amax(-1).view_as(case["totals"])
        if not isinstance(new, torch.Tensor) or new.shape != best.shape or new.is_complex():
            return None
        if not torch.allclose(new.double().sort(1).values, best.double().sort(1).values, rtol=1e-4):
            return None
    looks_like = "each beam kept its own best candidate and no other: greedy searches side by side."
    return symptom(looks_like, f"a beam may have two of the K best, or none: {POOL}")


POOL = "put all K * V candidates of a word into one long row, flatten(1), and take topk(K) of it."

EXERCISE = Exercise(
    cases,
    returns=("new_totals", "symbols", "rows"),
    off_limits=SEARCHES,
    symptoms=(one_for_each_beam,),
    advice="work the second word of the example by hand: six candidates, the two best, and the row that each goes on from.",
)
