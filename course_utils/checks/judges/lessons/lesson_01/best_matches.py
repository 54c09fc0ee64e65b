"""Every question with every page: the best products, added up over the words of the question."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.pairs import unit
from ...kit.shapes import same

SIZES = ((2, 3, 4, 6, 5), (3, 5, 3, 4, 6), (3, 3, 3, 3, 3), (4, 6, 2, 3, 7), (2, 3, 4, 6, 5))


def best_matches(
    queries, keys, *, of=same, meet=lambda q, k: torch.einsum("bid,cjd->bcij", q, k), best=lambda s: s.amax(-1),
    add=lambda s: s.sum(-1),
):  # fmt: skip
    """All products (B_q, B_k, L_q, L_k), the best over the keys, their sum over the queries."""
    return add(best(meet(of(queries), of(keys))))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    pages = torch.tensor([[[3.0, 2.0], [0.0, 1.0]], [[4.0, -3.0], [1.0, 0.0]]])
    cases = [Case(queries=torch.eye(2)[None], keys=pages)]
    for B_q, L_q, B_k, L_k, d in SIZES:
        queries, keys = (torch.randn(size, generator=rng) for size in ((B_q, L_q, d), (B_k, L_k, d)))
        cases.append(Case(queries=queries, keys=keys))
    cases.append(Case("every product is negative", queries=queries.abs(), keys=-keys.abs()))
    return [*cases, Case(queries=queries.double(), keys=keys.double() / 3)]


EXERCISE = Exercise(
    answer="best_matches", cases=_cases, reference=best_matches, returns=("scores",), faults=(
        Fault("best question word", "for each word of the page the best word of the question, added up over the page.",
              "the maximum goes over the page's words, the sum over the question's.", best=lambda s: s.amax(-2)),
        Fault("summed before the maximum", "the products are added over the question first, then the best page word is taken.",
              "first the best page word for each word of the question, then the sum.",
              best=lambda s: s.sum(-2), add=lambda s: s.amax(-1)),
        Fault("all products added", "the sum of all products: every word of the page counts, not only the best.",
              "take the maximum over the words of the page first.", best=lambda s: s.sum(-1)),
        Fault("mean over the page", "the mean over the page's words, not the best.", "use amax.", best=lambda s: s.mean(-1)),
        Fault("best of all", "the best product of all: the other words of the question don't count.",
              "add the best ones up over the words of the question.", add=lambda s: s.amax(-1)),
        Fault("mean over the question", "the mean over the question's words.", "use the sum.", add=lambda s: s.mean(-1)),
        Fault("not added", "the best for each word of the question, not yet added up.", "sum over these words.", add=same),
        Fault("same item only", "question b meets page b only.", "give each batch an axis of its own: (B_q, B_k, L_q, L_k).",
              whole=lambda q, k: (q @ k.mT).amax(-1).sum(-1)),
        Fault("cosines", "the vectors are divided by their lengths.", "leave the vectors as they are.", of=unit),
        Fault("starts at zero", "a best product below 0 counts as 0.", "let it count.", best=lambda s: s.amax(-1).clamp(min=0)),
        Fault("absolute products", "opposite words count as good matches.", "keep the sign.", best=lambda s: s.abs().amax(-1)),
    ), advice="make all products first, of shape (B_q, B_k, L_q, L_k), and print the shape after every step.",
)  # fmt: skip
