"""A causal mask that works with a cache."""

import torch

from ...exercise import Exercise, Fault
from ...kit.masks import FORM_FAULTS, TOP_LEFT, WRONG_SIDE, cases_of_numbers, positions
from ...kit.parts import faults_of


def causal_mask(
    L_q, L_k, *, start=lambda L_q, L_k: L_k - L_q, columns=lambda L_q, L_k: L_k, sees=lambda query, key: key <= query,
    form=lambda mask: mask,
):  # fmt: skip
    """True where a key is no later than the query, ``(L_q, L_k)``; each keyword is one step."""
    return form(sees(*positions(L_q, columns(L_q, L_k), start(L_q, L_k))))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    more, L_q = (int(torch.randint(*bounds, (), generator=rng)) for bounds in ((2, 5), (4, 8)))
    sizes = ((3, 3), (2, 5), (1, 6), (4, 5), (2, 4), (3, 3 + more), (5, 5), (L_q, L_q + more + 1))
    return cases_of_numbers(("L_q", "L_k"), *sizes)


EXERCISE = Exercise(
    answer="causal_mask", cases=_cases, reference=causal_mask, returns=("mask",), faults=(
        TOP_LEFT, WRONG_SIDE, *FORM_FAULTS,
        *faults_of("form", "two axes are asked for here, (L_q, L_k); the axes of size 1 come where the mask is used.",
            ("four axes", "a mask of shape (1, 1, L_q, L_k), with axes for the batch and the heads.", lambda m: m[None, None]),
            ("three axes", "a mask of shape (1, L_q, L_k), with an axis for the batch or the heads.", lambda m: m[None])),
        Fault("shift of 1", "the diagonal is shifted by 1 whatever the lengths are; that fits only "
            "where L_k is L_q + 1.", "the shift is the number of earlier keys, L_k - L_q.", start=lambda L_q, L_k: 1),
        Fault("open if lengths differ", "with L_q < L_k your mask hides nothing. That is right for one new query only.",
            "the new queries may not see one another's future either.",
            start=lambda L_q, L_k: 0 if L_q == L_k else L_k),
        Fault("diagonal masked", "the diagonal is masked too: no token can see itself.",
            "allow a query its own position: use <=, not <.", sees=lambda q, k: k < q),
        Fault("one step ahead", "every query sees one key of the future: the diagonal is off by one.",
            "the last key a query may see is the one at its own position.", sees=lambda q, k: k <= q + 1),
        Fault("upper triangle", "queries see themselves and the future, not the past: the other triangle.",
            "rows are queries and columns keys; keep the lower triangle.", sees=lambda q, k: k >= q),
        Fault("square", "a square mask of the size of the queries.", "it needs L_q rows and L_k columns.",
            columns=lambda L_q, L_k: L_q, start=lambda L_q, L_k: 0),
        Fault("square, then ones", "the triangle stands at the oldest keys, and the newest ones are open to all "
            "queries.", "the cached keys come first: the triangle belongs in the last L_q columns.",
            whole=lambda L_q, L_k: torch.cat([torch.ones(L_q, L_q).tril(), torch.ones(L_q, L_k - L_q)], 1).bool()),
        Fault("zero times infinity", "a triangle of zeros and ones times minus infinity: 0 times infinity is NaN.",
            "compare indices: the result is boolean, as asked for.", form=lambda m: (~m).float() * -torch.inf),
    ),
    advice="write down the mask for L_q=2, L_k=5 by hand: the last query sees all five keys.",
)  # fmt: skip
