"""Nearest neighbors."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.pairs import unit
from ...kit.shapes import SQUEEZED, same


def nearest(
    query, keys, k, *, scale=unit, compare=lambda keys, query: keys @ query, rank=lambda s: s.argsort(descending=True),
    take=lambda rows, k: rows[:k], give=lambda rows, cosines: rows, finish=same,
):  # fmt: skip
    """The rows of the keys, ranked by their cosine with the query."""
    scores = compare(scale(keys), query)
    rows = take(rank(scores), k)
    return finish(give(rows, (unit(keys) @ unit(query))[rows]))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    keys = torch.tensor([[1.0, 4.0], [-1.0, -2.0], [40.0, 0.0], [0.4, 0.6]])
    cases = [Case(query=torch.tensor([2.0, 3.0]), keys=keys, k=2)]
    for count, size, k in ((9, 4, 3), (30, 6, 5), (12, 3, 1), (7, 5, 6), (30, 6, 5), (4, 2, 3)):
        keys = 10.0 ** (2 * torch.rand(count, 1, generator=rng) - 1) * torch.randn(count, size, generator=rng)
        query = torch.randn(size, generator=rng)
        if count == 4:  # all keys but one point away from the query
            keys *= (keys @ query).sign()[:, None] * torch.tensor([[-1.0], [1.0], [-1.0], [-1.0]])
        short = count == 12
        keys = keys * (1e-4 if short else 1.0)
        away = (unit(keys) @ query).topk(k).values.min() < 0
        cases.append(
            Case(
                *["the keys are very short"] * short,
                *["some of the k nearest keys point away from the query"] * away,
                query=query,
                keys=keys,
                k=k,
            )
        )
    return cases


EXERCISE = Exercise(
    answer="nearest", cases=_cases, reference=nearest, returns=("indices",), faults=(
        Fault("by dot product", "a ranking by the dot product: long keys win, whatever their direction.",
              "divide each key by its length before the product.", scale=same),
        Fault("divided by squared length", "each product was divided by the squared length: short keys win.",
              "the length is the root of the sum of squares.", scale=lambda keys: keys / (keys**2).sum(-1, True)),
        Fault("sum of sizes for the length", "each product was divided by the sum of the key's absolute coordinates.",
              "the length is the root of the sum of squares.", scale=lambda keys: F.normalize(keys, p=1, dim=-1)),
        Fault("normalized over the keys", "each column of the keys was divided by its length over all keys (dim=0).",
              "each key is a row: F.normalize(keys, dim=-1).", scale=lambda keys: F.normalize(keys, dim=0)),
        Fault("by distance", "a ranking by distance: it compares where the arrows end, not where they point.",
              "rank by cosine.", scale=same, compare=lambda keys, query: -(keys - query).norm(dim=-1)),
        Fault("by absolute cosine", "opposite keys count as near: the sign of the cosine is lost.", "keep the sign.",
              compare=lambda keys, query: (keys @ query).abs()),
        Fault("farthest first", "the k least similar.", "the largest cosine comes first: sort descending.", rank=torch.argsort),
        Fault("by row number", "the k nearest, but sorted by row number.", "best first.", take=lambda r, k: r[:k].sort().values),
        Fault("one short", "the best key was left out.", "start at the first of the ranking.", take=lambda r, k: r[1 : k + 1]),
        Fault("similarities returned", "the similarities, not their rows.", "take .indices.", give=lambda rows, cosines: cosines),
        Fault("both parts of topk", "similarities and rows together.", "return .indices alone.", give=lambda r, c: (c, r)),
        SQUEEZED,
    ), advice="print the cosine of the query with every key, then sort them by hand.",
)  # fmt: skip
